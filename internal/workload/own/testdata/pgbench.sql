-- A script with an expression, a distribution, a condition and two statements.
\set low random_zipfian(1, 90000 * :scale, 1.2)
\set high :low + :limit - 1
SELECT abalance FROM pgbench_accounts WHERE aid BETWEEN :low AND :high;
\if :low % 2 = 0
SELECT COUNT(*) FROM pgbench_tellers WHERE tid <= :limit;
\endif
\sleep 10 us
