import type { EventCodec } from '../../src/payment/eventCodec.ts'
import type { AnyEvent } from '../../src/payment/events/eventDefinition.ts'

/** Balances by account after the events; debits are positive. One mint. */
export function balancesOf<Event extends AnyEvent>(
  codec: EventCodec<Event>,
  events: readonly Event[],
): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>()
  const add = (account: string, amount: bigint) => balances.set(account, (balances.get(account) ?? 0n) + amount)
  for (const { debit, credit, amountBaseUnits } of events.flatMap((event) => codec.postingsOf(event))) {
    add(debit, amountBaseUnits)
    add(credit, -amountBaseUnits)
  }
  return balances
}
