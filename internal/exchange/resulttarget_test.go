package exchange

import (
	"testing"

	"github.com/dbcanary/dbcanary"
)

func TestImportedTarget(t *testing.T) {
	for _, test := range []struct {
		name    string
		want    string
		family  dbcanary.Family
		version string
		config  string
	}{
		{"x.my8028_rel_o2nofp.z11a_bee.pk1", "my8028_rel_o2nofp.z11a_bee", "mysql", "8.0.28", "+rel_o2nofp+z11a_bee"},
		{"x.my5651_rel.y10a.pk0", "my5651_rel.y10a.pk0", "mysql", "5.6.51", "+rel+y10a+pk0"},
		{"my9500_rel.z", "my9500_rel.z", "mysql", "9.5.0", "+rel+z"},
		{"ma101114_rel_withdbg.z12a_c8r32", "ma101114_rel_withdbg.z12a_c8r32", "mariadb", "10.11.14", "+rel_withdbg+z12a_c8r32"},
		{"ma100244_rel.z", "ma100244_rel.z", "mariadb", "10.2.44", "+rel+z"},
		{"x.pg1023_o2nofp.x7a.pk1", "pg1023_o2nofp.x7a", "postgres", "10.23", "+o2nofp+x7a"},
		{"pg18beta1_def.x10a", "pg18beta1_def.x10a", "postgres", "18beta1", "+def+x10a"},
		{"pg174_def.x10a", "pg174_def.x10a", "postgres", "17.4", "+def+x10a"},
		{"fbmy8032_rel_221222.za4", "fbmy8032_rel_221222.za4", "mysql", "8.0.32", "+fb+rel_221222+za4"},
		{"mysql@8.0.40+noahi", "mysql@8.0.40+noahi", "mysql", "8.0.40", "+noahi"},
		{"MySQL-8.0.28-run2", "MySQL-8.0.28-run2", "mysql", "8.0.28", ""},
		{"pg15.3", "pg15.3", "postgres", "15.3", ""},
		{"8.0.28", "8.0.28", "", "8.0.28", ""},
		// What is not told is not guessed, and takes the name as config, so that
		// detect makes no series of it and another.
		{"before", "before", "", "", "+before"},
		{"mysql", "mysql", "", "", "+mysql"},
		{"my80281_rel.z", "my80281_rel.z", "mysql", "", "+80281+rel+z"},
	} {
		got := importedTarget(test.name, "f", "")
		if got.Name != test.want || got.Build.Family != test.family || got.Build.Version != test.version || got.Config.Name != test.config {
			t.Errorf("%s: got %q, %q %q %q", test.name, got.Name, got.Build.Family, got.Build.Version, got.Config.Name)
		}
		if got.Build.Provider != ProviderImport || got.Build.Origin != "f" {
			t.Errorf("%s: provider %q, origin %q", test.name, got.Build.Provider, got.Build.Origin)
		}
	}
}
