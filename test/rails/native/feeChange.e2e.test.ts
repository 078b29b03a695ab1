import { expect, test } from 'vitest'
import { feeOf, sentForArrival } from '@tollbook/core/transferFee'
import { openChain } from '../../../src/chain/openChain.ts'
import { startTermsHealth } from '../../../src/jobs/termsHealth.ts'
import { scanTransfers } from '../../../src/jobs/transferScanJob.ts'
import { postJson } from '../../../src/outbound/postJson.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { sentBaseUnits } from '../../../src/rails/native/challenge.ts'
import { amountToSend } from '../../../src/rails/sponsored/priceOfList.ts'
import {
  due,
  gross,
  newCustomer,
  openChainFixture,
  sendAndConfirm,
  signedBy,
  transferFee,
} from '../../chain/chainFixture.ts'
import { reachLastSlotBefore, scheduleFee } from '../../chain/feeChange.ts'
import { payment } from '../../chain/fixtureTokens.ts'
import { answered } from '../../chain/tamperingNode.ts'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { openVerifierFixture, present, quoteFor, transactionProof } from '../../chain/verifierFixture.ts'
import {
  balances,
  expectAuditHolds,
  finalityRound,
  onChain,
  openLifecycleFixture,
  pay,
  serve,
  stateOf,
} from '../../jobs/lifecycleFixture.ts'
import { openInstance } from '../../store/instance.ts'
import { afterFile } from '../../support/afterFile.ts'
import { createTestDatabase } from '../../support/database.ts'
import { steppedClock } from '../../support/steppedClock.ts'

/*
 * The transfer fee of the mint changes at an epoch, after the service has read it: nothing is served for less than the
 * price, and the ledger records what arrived.
 */

const kind = 'Token-2022 with a transfer fee'
const raised = { ...transferFee, basisPoints: 500 }
const settleAgeMs = 3_600_000

/** A service that has read the fee, and a payer in the last slot before it changes. */
async function openBeforeChange(basisPoints: number) {
  const { serviceUrl } = await createTestDatabase()
  const verifier = await openVerifierFixture(kind, serviceUrl)
  afterFile(() => verifier.close())
  verifier.clock.onSleep(() => verifier.chain.advanceSlots(1))
  await scheduleFee(verifier, basisPoints)
  const payer = await newCustomer(verifier)
  await quoteFor(verifier, payer)
  await reachLastSlotBefore(verifier)
  const bytes = (await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair])).serialize()
  verifier.chain.forgetRequestCounts()
  return { verifier, serviceUrl, payer, bytes }
}

test('of a fee that rises between rehearsal and landing the caller reads what arrived, and it is owed to it', async () => {
  const { verifier, serviceUrl, payer, bytes } = await openBeforeChange(raised.basisPoints)
  const { chain, clock, terms } = verifier
  verifier.node.answer('sendTransaction', async ({ forward }) => {
    chain.advanceSlots(1)
    return answered(await forward())
  })
  const sent = gross(verifier, due(verifier))
  const arrivedBaseUnits = sent - feeOf(sent, raised)
  for (const _again of [1, 2]) {
    const judged = await present(verifier, payer, transactionProof(bytes))
    expect(verdictOf(judged)).toBe('transfer_insufficient')
    expect(judged).toMatchObject({
      message: expect.stringContaining(`received ${arrivedBaseUnits}, required ${due(verifier)}`),
    })
  }
  expect(chain.requestCounts().get('sendTransaction'), 'it was sent once').toBe(1)

  const ledger = await openInstance(serviceUrl)
  const log = silentLog
  const { mint: tokenMint, paymentWallet } = terms
  const options = { rpcUrls: [chain.rpcUrl], tokenMint, paymentWallet, commitment: 'confirmed', postJson } as const
  const { reader, finality } = await openChain({ ...options, log, clock })
  const scanned = { ...ledger, clock, log, onStep: () => undefined, chain: { ...reader, ...finality } }
  chain.advanceSlots(40)
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...scanned, terms, settleAgeMs })
  const booked = await balances({ ledger })
  expect(booked[`Liabilities:Unmatched:${payer.address.toBase58()}`]).toBe(-arrivedBaseUnits)
  expect(booked['Assets:PaymentWallet']).toBe(arrivedBaseUnits)
})

test('a payment of the old amount that is rehearsed at the new fee is not sent', async () => {
  const { verifier, payer, bytes } = await openBeforeChange(raised.basisPoints)
  verifier.chain.advanceSlots(1)
  expect(verdictOf(await present(verifier, payer, transactionProof(bytes)))).toBe('transfer_insufficient')
  expect(verifier.chain.requestCounts().get('sendTransaction') ?? 0).toBe(0)
})

test('of a fee that falls before the payment lands the rest that arrives is counted, and is owed to the payer', async () => {
  const { verifier, payer, bytes } = await openBeforeChange(0)
  verifier.chain.advanceSlots(1)
  const judged = await present(verifier, payer, transactionProof(bytes))
  expect(judged).toMatchObject({ receivedBaseUnits: gross(verifier, due(verifier)) })
})

test('a served payment that lands again at a higher fee is reversed, what arrived is owed to its sender, and the audit agrees', async () => {
  const environment = await openLifecycleFixture(kind)
  const { fixture, clock, deps } = environment
  await scheduleFee(fixture, raised.basisPoints)
  const customer = await newCustomer(fixture)
  await reachLastSlotBefore(fixture)
  const fork = fixture.chain.markFork()
  const { settlement } = await pay(environment, 0n, customer)
  await serve(environment, settlement)
  fixture.chain.dropFork(fork)
  fixture.chain.advanceSlots(1)
  await sendAndConfirm(fixture, Buffer.from(settlement.evidence.transactionBase64 ?? '', 'base64'))
  fixture.chain.advanceSlots(32)
  await finalityRound(environment)
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'reversed' })
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
  const sent = gross(fixture, due(fixture))
  const booked = await balances(environment)
  expect(booked[`Liabilities:Unmatched:${settlement.wallet}`]).toBe(feeOf(sent, raised) - sent)
  expect(booked['Assets:PaymentWallet']).toBe(await onChain(environment))
  await expectAuditHolds(environment)
})

for (const { change, basisPoints, announced } of [
  { change: 'falls', basisPoints: 50, announced: transferFee },
  { change: 'is given up', basisPoints: 0, announced: transferFee },
  { change: 'rises', basisPoints: raised.basisPoints, announced: raised },
]) {
  test(`a fee that ${change} is quoted without a restart, never lower than what may be in effect, and paid routes stay open`, async () => {
    const fixture = await openChainFixture(kind)
    afterFile(() => fixture.chain.close())
    const { mint: tokenMint, paymentWallet } = fixture.terms
    const rpcUrls = [fixture.chain.rpcUrl]
    const options = { rpcUrls, tokenMint, paymentWallet, commitment: 'confirmed', postJson, log: silentLog } as const
    const { terms, readTerms } = await openChain(options)
    const clock = steppedClock()
    const health = startTermsHealth({ clock, log: silentLog, terms, readTerms })
    afterFile(() => health.stop())
    const transferred = due(fixture)
    const price = { ...fixture.price, requiredBaseUnits: transferred, burnBaseUnits: 0n }
    const quoted = () => [sentBaseUnits(terms, price), amountToSend(terms, transferred)]
    const byFee = (fee: typeof transferFee) => Array.from({ length: 2 }, () => sentForArrival(transferred, fee))

    await clock.step()
    expect(quoted()).toEqual(byFee(transferFee))
    await scheduleFee(fixture, basisPoints)
    await clock.step()
    expect([quoted(), health.problem()], 'announced').toEqual([byFee(announced), undefined])
    await reachLastSlotBefore(fixture)
    await clock.step()
    expect([quoted(), health.problem()], 'last slot before').toEqual([byFee(announced), undefined])
    // The epoch is read from a final block.
    fixture.chain.advanceSlots(1 + 32)
    await clock.step()
    expect([quoted(), health.problem()], 'in effect').toEqual([byFee({ ...transferFee, basisPoints }), undefined])
  })
}
