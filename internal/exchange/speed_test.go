package exchange

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkReadResults reads 200 MB of each format whose files grow with the time that
// was measured: a goal is less than 5 s.
func BenchmarkReadResults(b *testing.B) {
	const size = 200 << 20
	for _, long := range longInputs() {
		b.Run(long.format, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				results, err := ReadResults("f", long.read(size))
				if err != nil || results.Format != long.format || len(results.Measurements)+len(results.Recordings) != long.results {
					b.Fatal(results.Format, len(results.Measurements), results.Rejected, err)
				}
			}
		})
	}
}

// longInputs must stay whole files of their formats, each.
func TestLongInputs(t *testing.T) {
	for _, long := range longInputs() {
		results, err := ReadResults("f", long.read(300<<10))
		if err != nil || results.Format != long.format || len(results.Measurements)+len(results.Recordings) != long.results || len(results.Rejected) > 0 {
			t.Errorf("%s: %s, %d results, rejected %v, error %v", long.format, results.Format, len(results.Measurements)+len(results.Recordings), results.Rejected, err)
		}
	}
}

// longInput is a file of one format, as long as one likes.
type longInput struct {
	format     string
	results    int
	head, tail string
	part       func(buffer []byte, n int) []byte // the n-th one, from 1
}

func (l longInput) read(size int) io.Reader {
	var buffer []byte
	part := func(n int) []byte {
		buffer = l.part(buffer[:0], n)
		return buffer
	}
	return io.MultiReader(strings.NewReader(l.head), bufio.NewReader(&repeated{line: part, left: size}), strings.NewReader(l.tail))
}

// always gives the same part.
func always(part string) func([]byte, int) []byte {
	return func(buffer []byte, _ int) []byte { return append(buffer, part...) }
}

// numbered gives a part with its number in one place.
func numbered(format string) func([]byte, int) []byte {
	return func(buffer []byte, n int) []byte { return fmt.Appendf(buffer, format, n) }
}

func longInputs() []longInput { return append(longResults(), longRecordings()...) }

func longResults() []longInput {
	return []longInput{
		{
			"sysbench", 1, "Number of threads: 4\n", "SQL statistics:\n queries: 100 (100.00 per sec.)\nGeneral statistics:\n total time: 1.0000s\n execution time (avg/stddev): 1/0\n",
			numbered("[ %ds ] thds: 4 tps: 1960.68 qps: 31370.93 (r/w/o: 27450.12/0.00/3920.81) lat (ms,95%%): 3.55 err/s: 0.00 reconn/s: 0.00\n"),
		},
		{"sysbench", 1, "", "", numbered("%d,4,1960.68,31370.93,27450.12,1000.00,2920.81,3.55,0.00,0.00\n")},
		{
			"sysbench JSON", 1, `[{"time": 0.5, "threads": 2, "tps": 100.0, "qps": {"total": 2000.0}, "latency": 3.5, "errors": 0}`, "]\n",
			numbered(`,
  {
    "time":    %d,
    "threads": 2,
    "tps":     110.00,
    "qps": {"total": 2200.00, "reads": 1540.00, "writes": 440.00, "other": 220.00},
    "latency": 3.50,
    "errors":  0.00,
    "reconnects": 0.00
  }`),
		},
		{
			"pgbench", 1, "", "transaction type: <builtin: select only>\nnumber of clients: 4\nnumber of transactions actually processed: 100\ntps = 100.000000 (without initial connection time)\n",
			numbered("progress: %d.0 s, 23981.6 tps, lat 0.166 ms stddev 0.064, 0 failed\n"),
		},
		{"pgbench log", 1, "", "", func(buffer []byte, n int) []byte {
			return fmt.Appendf(buffer, "%d %d %d 0 %d %d\n", n%8, n, 1000+n%977, 1796071437+n/20000, n%20000*50)
		}},
		{"pgbench aggregated log", 1, "", "", func(buffer []byte, n int) []byte {
			return fmt.Appendf(buffer, "%d 881345 1997295345 8105616099345 382 12982345\n", 1796071437+n)
		}},
		{"HammerDB", 1, "Vuser 1:10 Active Virtual Users configured\n", "Vuser 1:TEST RESULT : System achieved 26207 NOPM from 61023 MariaDB TPM\n", always("Vuser 4:Processing 1000000 transactions with output suppressed...\n")},
		{
			"go-tpc", 1, "", "[Summary] NEW_ORDER - Takes(s): 299.9, Count: 1290, TPM: 258.1, Avg(ms): 37.2, 50th(ms): 35.7, Max(ms): 117.4\n",
			always("[Current] NEW_ORDER - Takes(s): 10.0, Count: 163, TPM: 978.0, Sum(ms): 6063.6, Avg(ms): 37.2, 50th(ms): 35.7, 90th(ms): 44.0, 95th(ms): 48.2, 99th(ms): 62.9, 99.9th(ms): 71.3, Max(ms): 71.3\n"),
		},
	}
}

// statusTables makes tables of mysqladmin extended-status.
func statusTables() func(buffer []byte, uptime int) []byte {
	rows := []byte("+---+---+\n| Variable_name | Value |\n+---+---+\n")
	for i := range 500 {
		rows = fmt.Appendf(rows, "| Innodb_counter_number_%-26d | %-48d |\n", i, 1000*i)
	}
	return func(buffer []byte, uptime int) []byte {
		return fmt.Appendf(append(buffer, rows...), "| %-48s | %-48d |\n+---+---+\n\n", "Uptime", uptime)
	}
}

func longRecordings() []longInput {
	status := statusTables()
	pidstat := "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM   kB_rd/s   kB_wr/s kB_ccwr/s iodelay   cswch/s nvcswch/s  Command\n" +
		"01:30:32    65534      6128   15.65    9.57    0.00   51.30   25.22     1      2.61      0.00  420388   42920   0.17      0.00      0.00      0.00       0   2887.83   1161.74  mysqld\n" +
		"01:30:32        0      6137    0.00    0.00    0.00    2.61    0.00     1      1.74      0.00    4616    2108   0.01      0.00      3.48      0.00       0      0.87      0.00  bash\n" +
		"01:30:32        0      6154   29.57    6.09    0.00    9.57   35.65     1    479.13      0.00   22516    8624   0.03      0.00      0.00      0.00       0      2.61     62.61  sysbench\n\n"
	disk := `{"timestamp": "12/01/26 01:30:30",
	"avg-cpu":  {"user": 34.47, "nice": 0.48, "system": 22.78, "iowait": 0.70, "steal": 0.00, "idle": 41.56},
	"disk": [
		{"disk_device": "vda", "r/s": 107.68, "w/s": 149.62, "d/s": 45.64, "f/s": 28.72, "rkB/s": 2007.09, "wkB/s": 8844.32, "dkB/s": 27191.79, "rrqm/s": 8.04, "wrqm/s": 45.95, "r_await": 0.91, "w_await": 0.66, "aqu-sz": 0.22, "util": 4.07}
	]}`
	return []longInput{
		{
			"vmstat", 1, "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n", "",
			always(" 4  0      0 23105696  24632 1384276    0    0  1136     0 6499 35206 50 50  0  0  0\n"),
		},
		{
			"iostat", 1, "Linux 6.1.0 (host) 12/01/26 _x86_64_ (2 CPU)\n\n", "",
			always("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          60.50    0.00   39.50    0.00    0.00    0.00\n\n" +
				"Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util\n" +
				"vda              6.00   1136.00     0.00   0.00    1.67   189.33    0.00      0.00     0.00   0.00    0.00     0.00    0.01   0.80\n\n"),
		},
		{"iostat JSON", 1, `{"sysstat": {"hosts": [{"nodename": "vm", "sysname": "Linux", "number-of-cpus": 2, "statistics": [` + disk, "]}]}}\n", always(",\n" + disk)},
		{"pidstat", 1, "Linux 6.18.44 (vm) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n", "", always(pidstat)},
		{
			"dstat CSV", 1, "\"Dstat 0.8.0 CSV output\"\n\"total cpu usage\",,,,,\"dsk/total\",,\"system\",\n\"usr\",\"sys\",\"idl\",\"wai\",\"stl\",\"read\",\"writ\",\"int\",\"csw\"\n", "",
			always("35.954,22.008,41.343,0.694,0,2044354.880,9018473.050,2476.917,13651.077\n"),
		},
		{"mysqladmin extended-status", 1, "", "", status},
		{"mysqladmin extended-status", 1, string(status(nil, 1000)), "", func(buffer []byte, _ int) []byte { return status(buffer, 1) }}, // -r
		{"perf script", 1, "", "", always("mysqld  2926 15659.764363:    5025125 cpu-clock: \n\tffffffff8225fd19 pvm_irq_enable+0x19 ([kernel.kallsyms])\n" +
			"\tffffffff816161e1 ptep_clear_flush+0x51 ([kernel.kallsyms])\n\t            7078 dispatch_command(THD*, COM_DATA const*, enum_server_command)+0xaa8 (/usr/sbin/mysqld)\n" +
			"\t            80c5 start_thread+0x215 (/usr/lib/x86_64-linux-gnu/libc.so.6)\n\n")},
		{"pt-pmp", 1, "", "", always("    194 poll(libc.so.6),vio_io_wait(viosocket.c:797),vio_socket_io_wait(viosocket.c:88),net_read_raw_loop(net_serv.cc:1027),my_net_read(net_serv.cc:1340)\n")},
		{"collapsed stacks", 1, "", "", always("mysqld;start_thread;pfs_spawn_thread;handle_connection;do_command(THD*);dispatch_command;mysql_execute_command;my_net_write 17\n")},
	}
}
