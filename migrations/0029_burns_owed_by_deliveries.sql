-- Why: a burn that is ours to make is owed from the delivery on, so that a payment that bought nothing is owed back whole. New rows in
-- kinds/payment.sql, and functions; no table changes. Release 0028 runs on this schema.
select;
