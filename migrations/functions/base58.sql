-- A signature's bytes from its text in events. Null when the text is not base58.
create or replace function ledger.base58_bytes(written text) returns bytea
language plpgsql
immutable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  alphabet constant text := '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  number numeric := 0;
  decoded bytea := ''::bytea;
begin
  -- 88 characters hold the 64 bytes of a signature; longer text is not one.
  if written !~ '^[1-9A-HJ-NP-Za-km-z]{1,88}$' then
    return null;
  end if;
  for i in 1 .. length(written) loop
    number := number * 58 + strpos(alphabet, substr(written, i, 1)) - 1;
  end loop;
  while number > 0 loop
    decoded := set_byte('\x00'::bytea, 0, mod(number, 256)::integer) || decoded;
    number := div(number, 256);
  end loop;
  -- Each leading zero byte is a leading 1.
  return decode(repeat('00', length(substring(written from '^1*'))), 'hex') || decoded;
end
$$;
