import { Connection } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { runAuditCommand } from '@tollbook/audit/auditCommand'
import { type AuditReport, exitCodeOf } from '@tollbook/audit/auditReport'
import { createChainNode } from '@tollbook/audit/chainNode'
import { systemClock } from '@tollbook/core/clock'
import { openTamperingNode, resultReply } from '../chain/tamperingNode.ts'
import { afterFile } from '../support/afterFile.ts'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { type Form, forms } from '../support/payer.ts'
import { openTestService, type TestService } from '../support/testService.ts'

/* Real payments on the local chain, audited against its node. */

let service: TestService
let paymentWallet: string
let paid = 0
// On the local chain as on a real one, what is 32 slots old is final.
const finalSlots = 40

beforeAll(async () => {
  service = await openTestService()
  for (const form of forms) await pay(form)
  ;({ paymentWallet } = await askForQuote(service))
  service.chain.advanceSlots(finalSlots)
})

async function pay(form: Form): Promise<void> {
  const proof = await service.payer.pay(await askForQuote(service), form)
  const { status } = await ask(service, { ...qrOrder, proof })
  expect(status).toBe(200)
  paid++
}

// As if the ledger had had its time to record every transfer; tests may choose another time.
function auditAgainst(rpcUrl: string, recordedWithinMs = 0, sleep = systemClock.sleep): Promise<AuditReport> {
  return audit({
    source: { kind: 'database', url: service.database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: { rpcUrl, paymentWallet, recordedWithinMs, fetch: globalThis.fetch },
    resumeFile: undefined,
    clock: { ...systemClock, sleep },
  })
}

async function openNode() {
  const node = await openTamperingNode(service.chain.rpcUrl)
  afterFile(() => node.close())
  return node
}

test('the chain confirms every payment of the ledger and has no other', async () => {
  const report = await auditAgainst(service.chain.rpcUrl)
  expect(report.findings).toEqual([])
  expect(report.verdicts.chainTruth).toMatchObject({ status: 'holds', findings: 0 })
  expect(report.verdicts.chainTruth.checked).toContain(`${paid} payments confirmed by a node`)
  expect(report.verdicts.completeness.checked).toContainEqual(
    expect.stringMatching(/transactions of the payment token/),
  )
  expect(exitCodeOf(report)).toBe(0)
})

test('the audit waits for a payment of the last seconds until the chain has made it final', async () => {
  // A node whose finalized slot stands still, however long the audit takes: what landed later is not final there.
  const node = await openNode()
  const finalSlot = await new Connection(service.chain.rpcUrl).getSlot('finalized')
  node.answer('getSlot', () => resultReply(finalSlot))
  node.answer('getTransaction', async ({ forward }) => {
    const text = await forward()
    const slot = Number(/"slot":(\d+)/.exec(text)?.[1] ?? 0)
    return slot > finalSlot ? resultReply(null) : { status: 200, text }
  })
  await pay('transaction')
  let polls = 0
  const held = await auditAgainst(node.url, 0, () => Promise.resolve(void polls++))
  expect(held.verdicts.chainTruth, 'a chain that stands still').toMatchObject({ status: 'not_re_checkable' })
  expect(held.verdicts.chainTruth.notChecked).toContain('1 payments are not final yet')
  expect(polls).toBeGreaterThan(30)

  const waited = await auditAgainst(node.url, 0, () => {
    service.chain.advanceSlots(finalSlots)
    node.behave()
    return Promise.resolve()
  })
  expect(waited.verdicts.chainTruth).toMatchObject({ status: 'holds', findings: 0 })
  expect(exitCodeOf(waited)).toBe(0)
})

test('the audit waits once for a chain that stands still, and not for each payment', async () => {
  let polls = 0
  const sleep = () => Promise.resolve(void polls++)
  const clock = { ...systemClock, sleep }
  const node = createChainNode({ rpcUrl: service.chain.rpcUrl, fetch: globalThis.fetch, clock })
  const never = Number.MAX_SAFE_INTEGER
  expect(await node.untilFinal(never)).toBe(false)
  const ofTheFirst = polls
  expect(ofTheFirst).toBeGreaterThan(30)
  expect(await node.untilFinal(never)).toBe(false)
  expect(polls).toBe(ofTheFirst)
  expect(await node.untilFinal(0), 'what is final is so at once').toBe(true)
})

test('a payment that a node has pruned is not re-checkable', async () => {
  const node = await openNode()
  node.answer('getTransaction', () => resultReply(null))
  node.answer('getFirstAvailableBlock', () => resultReply(1_000_000_000))
  node.answer('getSignaturesForAddress', () => resultReply([]))
  const report = await auditAgainst(node.url)
  expect(report.verdicts.chainTruth).toMatchObject({ status: 'not_re_checkable', findings: 0 })
  expect(report.verdicts.chainTruth.notChecked).toContain(`${paid} payments are older than what the node has`)
  expect(exitCodeOf(report)).toBe(3)
})

test('a payment that the chain does not have, in a slot that the node has, breaks chain truth', async () => {
  const node = await openNode()
  node.answer('getTransaction', () => resultReply(null))
  const report = await auditAgainst(node.url)
  expect(report.verdicts.chainTruth).toMatchObject({ status: 'broken', findings: paid })
  expect(report.findings[0]).toMatchObject({ code: 'transaction_unknown' })
  expect(exitCodeOf(report)).toBe(5)
})

test.each([
  ['failed', /"err":null/, '"err":{"InstructionError":[0,{"Custom":1}]}', 'transaction_failed'],
  ['landed in another slot', /"slot":(\d+)/, '"slot":1$1', 'transaction_contradicts'],
  ['left less in the payment wallet', /"amount":"35\d*"/g, '"amount":"1"', 'transaction_contradicts'],
  ['was signed by another wallet', /"numRequiredSignatures":1/, '"numRequiredSignatures":0', 'transaction_contradicts'],
] as const)('a payment that %s on chain is found at its position', async (_, from, to, code) => {
  const node = await openNode()
  node.answer('getTransaction', async ({ forward }) => ({ status: 200, text: (await forward()).replace(from, to) }))
  const { verdicts, findings } = await auditAgainst(node.url)
  expect(verdicts.chainTruth.status).toBe('broken')
  const first = findings.find(({ aspect }) => aspect === 'chainTruth')
  expect(first).toMatchObject({ code, position: expect.any(Number) })
})

test('a payment that only the chain has breaks completeness, with the amounts of the chain', async () => {
  const unseen = await service.payer.sign(await askForQuote(service))
  await service.payer.send(unseen)
  // A transfer after the newest event may still be presented, so one more payment is made behind it.
  await pay('transaction')
  service.chain.advanceSlots(finalSlots)
  const report = await auditAgainst(service.chain.rpcUrl)
  expect(report.verdicts.completeness.status).toBe('broken')
  expect(report.findings).toEqual([
    expect.objectContaining({
      code: 'not_in_the_ledger',
      subject: unseen.signature,
      message: expect.stringMatching(/3500000 arrived and 1500000 were burned/),
    }),
  ])
  expect(exitCodeOf(report)).toBe(4)

  const sooner = await auditAgainst(service.chain.rpcUrl, 3_600_000)
  expect(sooner.verdicts.completeness, 'a caller has paid and not presented the proof yet').toMatchObject({
    status: 'holds',
  })
  expect(sooner.verdicts.completeness.notChecked).toContainEqual(expect.stringMatching(/^1 transfers? .*presented/))
  expect(exitCodeOf(sooner)).toBe(0)
})

test('a node that does not answer ends the audit without a verdict', async () => {
  const node = await openNode()
  await node.close()
  const quick = { ...systemClock, sleep: () => Promise.resolve() }
  await expect(
    audit({
      source: { kind: 'database', url: service.database.serviceUrl },
      verifierKeys: [],
      ownCheckpoints: [],
      transactions: false,
      chain: { rpcUrl: node.url, paymentWallet, recordedWithinMs: 0, fetch: globalThis.fetch },
      resumeFile: undefined,
      clock: quick,
    }),
  ).rejects.toThrow('the Solana node did not answer')
})

test('the command says that the node does not answer before it waits for it the first time, and says it once', async () => {
  const written: string[] = []
  const writtenAtSleeps: string[] = []
  const code = await runAuditCommand(['--chain', 'http://127.0.0.1:1', '--payment-wallet', paymentWallet], {
    stdout: { write: () => undefined },
    stderr: { write: (text) => written.push(text) },
    interrupted: new AbortController().signal,
    findLedger: () => Promise.resolve({ databaseUrl: service.database.serviceUrl }),
    clock: {
      ...systemClock,
      sleep: () => {
        writtenAtSleeps.push(written.join(''))
        return Promise.resolve()
      },
    },
  })
  const said =
    'the Solana node 127.0.0.1:1 does not answer getTransaction usably; it is asked up to 8 times, for 30 s each, with pauses of a minute in all\n'
  expect(writtenAtSleeps[0]).toBe(said)
  expect(writtenAtSleeps.at(-1)).toBe(said)
  expect([code, written.at(-1)]).toEqual([1, expect.stringContaining('did not answer getTransaction usably')])
})
