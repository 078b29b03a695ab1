import { createTransferInstruction } from '@solana/spl-token'
import { PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { connectLocalChain } from '../../src/cli/local/giveFunds.ts'
import { auditLedger } from '../support/ledgerFindings.ts'
import { askForQuote, type Order } from '../support/ask.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { newSessionKey, openFinalTab } from './tabClient.ts'

test('an audit finds the wallet for tabs after its owner has moved the deposits, with both amounts', async () => {
  const service = await openTestService({ sellsTabs: true })
  await openFinalTab(service)
  const held = await moveDeposits(service, 0n)
  const { findings, verdicts } = await auditWithChain(service)
  expect(findings).toEqual([])
  expect(verdicts.chainTruth.checked).toContainEqual(expect.stringMatching(`holds ${held} .*, and ${held} are on tabs`))
  await moveDeposits(service, held - 1n)
  expect((await auditWithChain(service)).findings).toEqual([
    expect.objectContaining({
      code: 'tabs_not_covered',
      subject: service.tabWallet.publicKey.toBase58(),
      message: expect.stringMatching(`holds 1 base units of .*, and ${held} are on tabs`),
    }),
  ])
})

/** Moves tokens from the wallet for tabs to the payment wallet, and returns what the first held before. */
async function moveDeposits(service: TestService, baseUnits: bigint): Promise<bigint> {
  const deposit = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: newSessionKey().address } }
  const accountOf = async (order?: Order) => new PublicKey((await askForQuote(service, order)).paymentTokenAccount)
  const [from, to] = [await accountOf(deposit), await accountOf()]
  const { chain, demoWallet, tabWallet } = service
  const connection = connectLocalChain(chain.rpcUrl)
  const { owner } = assertPresent(await connection.getAccountInfo(from), 'a deposit was made')
  const held = BigInt((await connection.getTokenAccountBalance(from)).value.amount)
  const move = createTransferInstruction(from, to, tabWallet.publicKey, baseUnits, [], owner)
  await sendAndConfirmTransaction(connection, new Transaction().add(move), [demoWallet, tabWallet])
  chain.advanceSlots(40)
  return held
}

function auditWithChain({ chain, database, paymentWallet }: TestService) {
  return auditLedger(database.serviceUrl, {
    rpcUrl: chain.rpcUrl,
    paymentWallet: paymentWallet.publicKey.toBase58(),
  })
}
