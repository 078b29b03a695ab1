import { memoOfSecret } from '@tollbook/core/binding'
import { systemClock } from '@tollbook/core/clock'
import { transactionReference } from '../../../src/payment/paymentReference.ts'
import type { ProvenAmounts, Settlement } from '../../../src/payment/settlement.ts'
import type { TransactionRecord } from '../../../src/payment/transactionRecord.ts'
import { findRecord, type Presented } from '../cases/verificationCase.ts'
import { addressOf, type ChainFixture, due } from '../chainFixture.ts'

/** The payment as a ledger has it that took it for these amounts. */
export async function recordedAs(
  fixture: ChainFixture,
  presented: Presented,
  amounts: (record: TransactionRecord | undefined) => ProvenAmounts,
): Promise<Settlement> {
  const { signature, wallet, secret } = presented
  const record = await findRecord(fixture, presented)
  const bytes = record?.bytes
  return {
    reference: transactionReference(signature),
    wallet: addressOf(wallet),
    price: fixture.price,
    quoteId: undefined,
    memo: secret === undefined ? undefined : memoOfSecret(secret),
    ...amounts(record),
    evidence: {
      kind: 'solana',
      slot: record?.slot ?? (await fixture.connection.getSlot('finalized')),
      blockTimeMs: record?.blockTimeMs ?? systemClock.nowMs(),
      transactionBase64: bytes === undefined ? undefined : Buffer.from(bytes).toString('base64'),
    },
  }
}

/** Exactly the price, whatever the transaction did. */
export function priceOnly(fixture: ChainFixture): ProvenAmounts {
  return { burnedBaseUnits: fixture.price.burnBaseUnits, receivedBaseUnits: due(fixture) }
}

/** All that was burned and arrived, by any wallet, but at least the price. */
export function everything(
  fixture: ChainFixture,
  { terms = fixture.terms }: Presented,
  record: TransactionRecord | undefined,
): ProvenAmounts {
  const least = priceOnly(fixture)
  const burned = (record?.movements ?? [])
    .filter(({ kind, mint }) => kind === 'burn' && mint === terms.mint)
    .reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n)
  const arrived = (record?.balances ?? [])
    .filter(({ tokenAccount }) => tokenAccount === terms.paymentTokenAccount)
    .reduce((sum, { beforeBaseUnits, afterBaseUnits }) => sum + afterBaseUnits - beforeBaseUnits, 0n)
  return {
    burnedBaseUnits: burned > least.burnedBaseUnits ? burned : least.burnedBaseUnits,
    receivedBaseUnits: arrived > least.receivedBaseUnits ? arrived : least.receivedBaseUnits,
  }
}
