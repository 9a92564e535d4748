package drivers_test

import (
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
)

func TestFor_EveryFamilyHasADriver(t *testing.T) {
	for _, family := range dbcanary.Families() {
		if driver := drivers.For(family); driver == nil || driver.Family() != family {
			t.Errorf("no driver for %s", family)
		}
	}
	if drivers.For("oracle") != nil {
		t.Error("a driver for a family that there is not")
	}
	_, err := drivers.Identify(t.Context(), dbcanary.MySQL, t.TempDir())
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable {
		t.Errorf("an empty directory gives %v", err)
	}
}
