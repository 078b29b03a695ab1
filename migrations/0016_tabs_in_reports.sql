-- Why: finance sees deposits apart from sales (docs/finance.md): received + lost = unearned + burn_owed + shares + owed + prepaid.
-- Deposited on a tab, or negative: taken out of a tab by a sale or by its closing.
alter table reports.payments add column prepaid numeric(38, 0) not null default 0;
alter table reports.payment_totals add column prepaid numeric(38, 0) not null default 0;
