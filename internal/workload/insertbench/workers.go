package insertbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Worker is what one connection does in a step.
type Worker interface {
	// Run does one event and gives its statements, 0 for one that only waited.
	Run() (statements int, err error)
	// Reseed begins the sequence of random choices that belongs to a seed.
	Reseed(seed uint64)
}

// Worker makes the work of worker n: first those of the clients that are measured,
// then those that insert beside queries, then those that delete. ctx ends with the step.
func (r *Run) Worker(ctx context.Context, n int, conn wire.Conn, prepared bool) (Worker, error) {
	clients := len(r.bench.clients)
	c, role := r.bench.clients[n%clients], n/clients
	switch {
	case r.step.Queries() && role == 0:
		return r.newQuerier(ctx, c, conn, prepared)
	case role == 0 && r.step.Kind != Churn:
		w := &loading{inserter: r.bench.inserter(c, conn, r.step.Commit), index: r.step.Kind == Index}
		w.log = r.newSeries(&r.inserts)
		return w, nil
	case role == 0 || r.step.Queries() && role == 1:
		w := &feeding{inserter: r.bench.inserter(c, conn, r.step.Commit), ctx: ctx, queue: r.queues[c.number], lost: r.lost[c.number]}
		w.log = r.newSeries(&r.inserts)
		if r.step.Rate > 0 {
			w.rounds = (r.step.Rate + r.step.Commit - 1) / r.step.Commit
		}
		r.feeds = append(r.feeds, w)
		return w, nil
	}
	d := r.bench.deleter(c, conn, r.step.Commit)
	d.log = r.newSeries(&r.deletes)
	r.removes = append(r.removes, d)
	return &draining{deleter: d, ctx: ctx, queue: r.queues[c.number], lost: r.lost[c.number]}, nil
}

func (r *Run) newSeries(into *[]*series) *series {
	s := &series{run: r}
	*into = append(*into, s)
	return s
}

// inserter inserts at the head of a table.
type inserter struct {
	bench  *Bench
	client *client
	conn   wire.Conn
	commit int
	log    *series // nil if nothing is measured
	text   []byte
}

func (b *Bench) inserter(c *client, conn wire.Conn, commit int) *inserter {
	return &inserter{bench: b, client: c, conn: conn, commit: commit}
}

func (w *inserter) insert() error {
	first := w.client.inserted.Load() + 1
	w.text = appendInsert(w.text[:0], w.bench.Seed, w.client.number, first, w.commit)
	began := time.Now()
	result, err := w.conn.Query(w.text)
	if err == nil && result.Affected != int64(w.commit) {
		err = fmt.Errorf("wrong answer: an insert of %d rows added %d", w.commit, result.Affected)
	}
	if err != nil {
		return fmt.Errorf("insert into %s: %w", Table(w.client.number), err)
	}
	w.client.inserted.Add(int64(w.commit))
	if w.log != nil {
		w.log.add(w.commit, began)
	}
	return nil
}

func (w *inserter) createIndexes() error {
	for _, text := range index(w.bench.Family, w.client.number) {
		if _, err := w.conn.Query([]byte(text)); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// loading inserts as fast as it goes, or inserts once and creates the indexes.
type loading struct {
	*inserter
	index bool
}

func (w *loading) Reseed(uint64) {}

func (w *loading) Run() (statements int, err error) {
	w.log.run.begun()
	if err := w.insert(); err != nil || !w.index {
		return 1, err
	}
	began := time.Now()
	err = w.createIndexes()
	w.log.run.indexed.Add(int64(time.Since(began)))
	return 1 + len(index(w.bench.Family, w.client.number)), err
}

// feeding inserts and has as much deleted: as fast as both go, or so many commits
// at the begin of each second.
type feeding struct {
	*inserter
	ctx    context.Context
	queue  chan<- struct{}
	lost   <-chan struct{}
	owed   bool      // an insert that the queue does not know of yet
	rounds int       // commits a second; 0 for as fast as it goes
	left   int       // of this second
	second time.Time // end of this second
}

func (w *feeding) Reseed(uint64) {}

func (w *feeding) Run() (statements int, err error) {
	w.log.run.begun()
	if w.owed {
		return 0, w.handOver()
	}
	if w.rounds > 0 && !w.due() {
		return 0, nil
	}
	if err := w.insert(); err != nil {
		return 0, err
	}
	w.owed = true
	return 1, w.handOver()
}

// handOver asks for as much to be deleted. It waits as long as that takes, but
// beside queries for a turn at most, as nobody deletes any more when they have ended.
func (w *feeding) handOver() error {
	var enough <-chan time.Time
	if w.rounds > 0 {
		timer := time.NewTimer(turn)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case w.queue <- struct{}{}:
		w.owed = false
		return nil
	case <-enough:
		return nil
	case <-w.lost:
		return errors.New("the deletes have ended")
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// turn is how long a worker that waits takes to see the end of the step.
const turn = 10 * time.Millisecond

// due waits for the next commit, for a turn at most. A second that took longer than
// one is not caught up: the rate is then missed, as in the published tool.
func (w *feeding) due() bool {
	now := time.Now()
	if w.left == 0 {
		if wait := w.second.Sub(now); wait > 0 {
			pause(w.ctx, min(wait, turn))
			return false
		}
		w.left = w.rounds
		if now.Sub(w.second) > time.Second {
			w.second = now // the first one, or so late that others are lost
		}
		w.second = w.second.Add(time.Second)
	}
	w.left--
	return true
}

// pause waits so long or until ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// deleter deletes at the tail of a table.
type deleter struct {
	bench  *Bench
	client *client
	conn   wire.Conn
	commit int
	log    *series
	text   []byte
	done   int // statements
}

func (b *Bench) deleter(c *client, conn wire.Conn, commit int) *deleter {
	return &deleter{bench: b, client: c, conn: conn, commit: commit}
}

// refresh is how many deletes pass until the least id is asked for again.
const refresh = 1000

func (d *deleter) remove() error {
	table := Table(d.client.number)
	if d.done%refresh == 0 {
		if err := one(d.conn, "select min(transactionid) from "+table); err != nil {
			return err
		}
	}
	before := d.client.deleted.Load()
	d.text = appendDelete(d.text[:0], d.bench.Family, d.client.number, before+1, d.commit)
	// Queries must not miss these rows from now on, and may from then on.
	d.client.deleted.Store(before + int64(d.commit))
	began := time.Now()
	result, err := d.conn.Query(d.text)
	if err == nil && result.Affected != int64(d.commit) {
		err = fmt.Errorf("wrong answer: %d rows went where %d are the oldest", result.Affected, d.commit)
	}
	if err != nil {
		d.client.deleted.Store(before)
		return fmt.Errorf("delete from %s: %w", table, err)
	}
	d.done++
	if d.log != nil {
		d.log.add(d.commit, began)
	}
	return nil
}

// drain deletes what the queue still asks for, unmeasured.
func (d *deleter) drain(queue <-chan struct{}) error {
	d.log = nil
	for {
		select {
		case <-queue:
			if err := d.remove(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// one runs a query that must give one row.
func one(conn wire.Conn, query string) error {
	result, err := conn.Query([]byte(query))
	if err == nil && result.Rows != 1 {
		err = fmt.Errorf("wrong answer: %d rows", result.Rows)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// draining deletes as much as was inserted.
type draining struct {
	*deleter
	ctx   context.Context
	queue chan struct{}
	lost  chan struct{}
	owed  bool // a token is taken and its rows are still there
}

func (w *draining) Reseed(uint64) {}

func (w *draining) Run() (statements int, err error) {
	w.log.run.begun()
	if !w.owed {
		timer := time.NewTimer(turn)
		defer timer.Stop()
		select {
		case <-w.queue:
			w.owed = true
		case <-timer.C:
			return 0, nil
		case <-w.ctx.Done():
			return 0, nil
		}
	}
	if err := w.remove(); err != nil {
		var refused *wire.ServerError
		if errors.As(err, &refused) && refused.Retryable {
			return 0, err
		}
		close(w.lost)
		return 0, errors.New(err.Error()) // the step is over, whatever the server said
	}
	w.owed = false
	return 1, nil
}

// querier asks for ranges or keys.
type querier struct {
	run    *Run
	client *client
	conn   wire.Conn
	log    *series
	random *rand.Rand
	seed   *rand.PCG

	stmts []wire.Stmt // prepared; nil for text
	texts []string
	bound []int // number of values of each range query
	args  []wire.Arg
	text  []byte

	loops    int
	from, to int64 // ids that point queries are drawn from
}

func (r *Run) newQuerier(ctx context.Context, c *client, conn wire.Conn, prepared bool) (*querier, error) {
	q := &querier{run: r, client: c, conn: conn, log: r.newSeries(&r.queries), seed: rand.NewPCG(0, 0), args: make([]wire.Arg, limit)}
	q.random = rand.New(q.seed)
	if r.step.Kind == Point {
		q.texts = []string{pointQuery(c.number)}
	} else {
		q.args = q.args[:1]
		for which := range 3 {
			text, values := rangeQuery(r.bench.Family, c.number, which)
			q.texts, q.bound = append(q.texts, text), append(q.bound, values)
		}
	}
	if !prepared {
		return q, nil
	}
	for _, text := range q.texts {
		if r.bench.Family == dbcanary.Postgres {
			for n := 1; strings.Contains(text, "?"); n++ {
				text = strings.Replace(text, "?", "$"+strconv.Itoa(n), 1)
			}
		}
		stmt, err := conn.Prepare(ctx, text, make([]wire.Kind, len(q.args)))
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", text, err)
		}
		q.stmts = append(q.stmts, stmt)
	}
	return q, nil
}

func (q *querier) Reseed(seed uint64) { q.seed.Seed(seed, 0) }

func (q *querier) Run() (statements int, err error) {
	q.run.begun()
	if q.run.step.Kind == Point {
		return q.point()
	}
	which := q.random.IntN(3)
	value := q.random.IntN(q.bound[which])
	q.args[0].Int = int64(value)
	rows, err := q.ask(which)
	if err != nil {
		return 0, err
	}
	least := int64(0)
	// So many rows are expected beyond the value that ten are there with a chance of
	// all but 10^-12 (Poisson, 60: fewer than 10 have 10^-15).
	kept := float64(q.client.inserted.Load() - q.client.deleted.Load() - int64(queueDepth*q.run.step.Commit))
	if kept*float64(q.bound[which]-value-1)/float64(q.bound[which]) > 60 {
		least = limit
	}
	if rows < least || rows > limit {
		return 0, fmt.Errorf("wrong answer: %s with %d returned %d rows, expected %d", q.texts[which], value, rows, limit)
	}
	return 1, nil
}

// greatest is how many point queries pass until the greatest id is asked for again.
const greatest = 100

func (q *querier) point() (statements int, err error) {
	if q.loops%greatest == 0 {
		if err := one(q.conn, "select max(transactionid) from "+Table(q.client.number)); err != nil {
			return 0, err
		}
		q.from, q.to = q.client.deleted.Load()+1, q.client.inserted.Load()
		statements++
	}
	q.loops++
	for i := range q.args {
		q.args[i].Int = q.from + q.random.Int64N(max(1, q.to-q.from))
	}
	rows, err := q.ask(0)
	if err != nil {
		return statements, err
	}
	least, most := q.different(q.client.deleted.Load())
	if rows < least || rows > most {
		return statements, fmt.Errorf("wrong answer: %s returned %d rows, expected %d to %d", q.texts[0], rows, least, most)
	}
	return statements + 1, nil
}

// different counts the different ids that were asked for: those that are surely
// there, as they lie beyond what may be deleted, and all.
func (q *querier) different(deleted int64) (there, all int64) {
	for i := range q.args {
		again := false
		for k := range i {
			again = again || q.args[k].Int == q.args[i].Int
		}
		if again {
			continue
		}
		all++
		if q.args[i].Int > deleted {
			there++
		}
	}
	return there, all
}

// ask runs a query with the arguments that were drawn.
func (q *querier) ask(which int) (rows int64, err error) {
	began := time.Now()
	var result wire.Result
	if q.stmts != nil {
		result, err = q.stmts[which].Exec(q.args)
	} else {
		q.text = q.text[:0]
		n := 0
		for _, letter := range []byte(q.texts[which]) {
			if letter != '?' {
				q.text = append(q.text, letter)
				continue
			}
			q.text = strconv.AppendInt(q.text, q.args[n].Int, 10)
			n++
		}
		result, err = q.conn.Query(q.text)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", q.texts[which], err)
	}
	q.log.add(1, began)
	return result.Rows, nil
}
