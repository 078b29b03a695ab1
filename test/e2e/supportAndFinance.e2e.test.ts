import { Keypair } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { secretKeySigner } from '@tollbook/core/ed25519'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { explainCommand } from '../../src/cli/explain.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { ask, askForQuote, buy, qrOrder } from '../support/ask.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { openTestService } from '../support/testService.ts'

/*
 * The daily questions of support and finance, over HTTP. The operator's identity provider is a loopback server that
 * publishes keys; everything else is real.
 */

const issuer = 'https://identity.example'
const keys = await generateKeyPair('EdDSA', { extractable: true })
const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'EdDSA' }
const provider = await openLoopbackServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }))
})
const financeEnv = { FINANCE_PORT: '0', FINANCE_ISSUER: issuer, FINANCE_JWKS_URL: `${provider.url}/jwks` }
const service = await openTestService({ env: financeEnv })
const sale = await buy(service)
const { tokenMint: mint, paymentWallet: wallet } = await askForQuote(service)
const sale402 = { mint, wallet }

const tokenOf = (role: string, subject = 'mira') =>
  new SignJWT({ roles: [role] })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'one' })
    .setIssuer(issuer)
    .setAudience('tollbook-finance')
    .setSubject(subject)
    .setExpirationTime('2 minutes')
    .sign(keys.privateKey)

const explained = z.object({
  data: z.object({
    explanation: z
      .object({
        diagnosis: z.object({ code: z.string(), caller: z.string() }),
        rules: z.array(z.object({ rule: z.string(), verdict: z.string() })),
        attempts: z.array(z.object({ outcome: z.string() })),
      })
      .loose(),
  }),
})

const challenged = z.object({ challenge: z.string(), expiresAt: z.string() })

async function read(path: string, role = 'support') {
  const headers = { authorization: `Bearer ${await tokenOf(role)}` }
  const response = await fetch(`${service.financeUrl ?? ''}${path}`, { headers })
  return { status: response.status, body: await response.json() }
}

async function explain(subject: string) {
  const { status, body } = await read(`/api/finance/explain/${subject}`)
  expect([status, subject]).toEqual([200, subject])
  return explained.parse(body).data.explanation
}

test('a payment that is on chain and was never presented gets a diagnosis and the next step', async () => {
  const payment = await service.payer.sign(await askForQuote(service))
  await service.payer.send(payment)
  const { signature } = payment
  const proof = Buffer.from(signature).toString('base64')
  const found = await explain(signature)
  expect(found.diagnosis).toMatchObject({ code: 'never_presented', caller: expect.stringContaining('x-payment-proof') })
  expect(found.rules.filter(({ verdict }) => verdict === 'failed')).toEqual([])
  expect((await ask(service, { ...qrOrder, proof })).status).toBe(200)
  expect((await explain(signature)).diagnosis.code).toBe('delivered')
})

test('a delivered payment is explained by its signature, its receipt and its quote', async () => {
  const { signature, id, quoteId } = sale.receipt
  for (const subject of [signature, id, quoteId ?? '', `solana:${signature}`]) {
    const found = await explain(subject)
    expect(found.diagnosis.code).toBe('delivered')
    expect(found.attempts).toMatchObject([{ outcome: 'delivered' }])
  }
})

test('a signature that no node has is explained, and a text that names nothing is refused', async () => {
  expect((await explain(`${'1'.repeat(63)}2`)).diagnosis.code).toBe('not_on_chain')
  expect((await read('/api/finance/explain/hello')).status).toBe(400)
  expect((await read('/api/finance/explain/quote_AAAAAAAAAAAAAAAAAAAAAA')).status).toBe(404)
})

test('`tollbook explain` says the same on the command line, for people and for programs', async () => {
  const { mint, wallet } = sale402
  for (const [name, value] of [
    ['DATABASE_URL', service.database.serviceUrl],
    ['SOLANA_RPC_URLS', service.chain.rpcUrl],
    ['TOKEN_MINT', mint],
    ['PAYMENT_WALLET', wallet],
    ['RECEIPT_SIGNING_KEY', JSON.stringify(makeReceiptKey())],
  ] as const)
    vi.stubEnv(name, value)
  const text = await run(sale.receipt.id)
  expect(text).toMatchObject({ code: 0, out: expect.stringContaining(`${sale.receipt.id}: delivered`) })
  expect(text.out).toMatch(/pass 3 +the wallet burned/)
  const json = await run(sale.receipt.signature, '--json')
  expect(JSON.parse(json.out)).toMatchObject({
    diagnosis: { code: 'delivered' },
    ledger: { receiptId: sale.receipt.id },
  })
  expect(await run('hello')).toMatchObject({ code: 2, err: expect.stringContaining('a signature') })
  vi.stubEnv('SOLANA_RPC_URLS', 'http://127.0.0.1:9')
  const alone = JSON.parse((await run(sale.receipt.signature, '--json')).out)
  expect(alone).toMatchObject({ chain: { status: 'unavailable' }, diagnosis: { code: 'delivered' } })
  vi.unstubAllEnvs()
})

async function run(...words: readonly string[]) {
  const said = { out: '', err: '', code: 0 }
  const command = explainCommand({
    stdout: { write: (text) => (said.out += text) },
    stderr: { write: (text) => (said.err += text) },
    home: () => '/nowhere',
    setExitCode: (code) => void (said.code = code),
    interrupted: new AbortController().signal,
    clock: systemClock,
  })
  await command.parseAsync([...words], { from: 'user' })
  return said
}

test('a payer reads state, receipt and refunds of a payment by a signed challenge, and no other wallet does', async () => {
  const path = `${service.baseUrl}/api/payments/${sale.receipt.signature}`
  const asked = await fetch(path)
  const { challenge, expiresAt } = challenged.parse(await asked.json())
  expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, 'Wallet'])
  const read = async (keypair: Keypair, text = challenge, until = expiresAt) => {
    const signer = assertPresent(secretKeySigner(keypair.secretKey), 'a keypair signs')
    const signed = encodeBase58(signer.sign(new TextEncoder().encode(text)))
    const headers = { authorization: `Wallet ${keypair.publicKey.toBase58()}.${until}.${signed}` }
    const response = await fetch(path, { headers })
    return { status: response.status, body: await response.json() }
  }
  expect(await read(service.demoWallet)).toMatchObject({
    status: 200,
    // Null: the reports are behind the ledger at this moment.
    body: {
      data: {
        state: 'fulfilled',
        receipt: { id: sale.receipt.id, jws: expect.any(String) },
        refunds: expect.toBeOneOf([[], null]),
      },
    },
  })
  expect((await read(Keypair.generate())).status).toBe(404)
  expect((await read(service.demoWallet, `${challenge} `)).status).toBe(401)
  const later = new Date(Date.parse(expiresAt) + 3_600_000).toISOString()
  expect((await read(service.demoWallet, challenge.replace(expiresAt, later), later)).status).toBe(401)
})

test('the holder of a wallet reads its statement by a signed challenge, once, and no other signature opens it', async () => {
  const wallet = service.demoWallet.publicKey.toBase58()
  const month = isoTime(Date.parse(sale.receipt.blockTime)).slice(0, 7)
  const path = `${service.baseUrl}/api/statements/${wallet}?month=${month}`
  const ask = async () => challenged.parse(await (await fetch(path)).json())
  const read = async (keypair: Keypair, text: string, until: string) => {
    const signer = assertPresent(secretKeySigner(keypair.secretKey), 'a keypair signs')
    const signed = encodeBase58(signer.sign(new TextEncoder().encode(text)))
    const headers = { authorization: `Wallet ${keypair.publicKey.toBase58()}.${until}.${signed}` }
    const response = await fetch(path, { headers })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  const { challenge, expiresAt } = await ask()
  expect(challenge).toMatch(
    new RegExp(`^tollbook/\\w+ asks: list the payments of ${wallet} in ${month} until ${expiresAt}$`),
  )
  const past = isoTime(Date.parse(expiresAt) - 3_600_000)
  const later = isoTime(Date.parse(expiresAt) + 3_600_000)
  for (const [keypair, text, until] of [
    [Keypair.generate(), challenge, expiresAt],
    [service.demoWallet, challenge.replace(month, '2026-01'), expiresAt],
    [service.demoWallet, challenge.replace(/^\S+/, 'tollbook/other'), expiresAt],
    [service.demoWallet, challenge.replace(/list .* in \S+/, `show the payment ${sale.receipt.signature}`), expiresAt],
    [service.demoWallet, challenge.replace(expiresAt, past), past],
    [service.demoWallet, challenge.replace(expiresAt, later), later],
  ] as const)
    expect((await read(keypair, text, until)).status).toBe(401)
  const statement = await read(service.demoWallet, challenge, expiresAt)
  expect([statement.status, statement.type]).toEqual([200, 'text/csv; charset=utf-8; header=present'])
  const [head, ...rows] = statement.text.trimEnd().split('\r\n')
  expect(head).toMatch(
    /^paidAt,reference,endpoint,state,.*,refund,refundedBaseUnits,refundedTokens,refundReference,refundedAt,mint$/,
  )
  expect(
    rows.filter((row) => row.includes(`solana:${sale.receipt.signature},/api/tools/qrcode,fulfilled,`)),
  ).toHaveLength(1)
  expect((await read(service.demoWallet, challenge, expiresAt)).status).toBe(401)
  for (const query of ['', '?month=2026-13', '?month=2999-01', `?month=${month}&format=csv`])
    expect((await fetch(`${service.baseUrl}/api/statements/${wallet}${query}`)).status).toBe(400)
  expect((await fetch(`${service.baseUrl}/api/statements/nobody?month=${month}`)).status).toBe(400)
})

test('support approves a refund over HTTP in its own name and within its limit, and an auditor decides nothing', async () => {
  const env = { ...financeEnv, FINANCE_DATABASE_URL: await financeLogin(), REFUND_MAX_SUPPORT_USD: '0.000001' }
  const deciding = await openTestService({ besides: service, env })
  const payment = await service.payer.sign(await askForQuote(service), { shortBy: -1n })
  await service.payer.send(payment)
  expect((await ask(service, { ...qrOrder, proof: Buffer.from(payment.signature).toString('base64') })).status).toBe(
    200,
  )
  const decide = async (role: string, more: object = {}, url = deciding.financeUrl) => {
    const response = await fetch(`${url ?? ''}/api/finance/decisions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenOf(role, `${role} person`)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'approve', payment: payment.signature, reason: 'ticket 4711', ...more }),
    })
    return { status: response.status, body: await response.json() }
  }
  expect((await decide('auditor')).status).toBe(403)
  expect((await decide('support', {}, service.financeUrl)).status).toBe(503)
  expect(await decide('support', { action: 'pay' })).toMatchObject({
    status: 400,
    body: { details: [{ field: 'action' }] },
  })
  expect(await decide('support', { action: 'grant', amountBaseUnits: 5 })).toMatchObject({
    status: 400,
    body: { details: [{ field: 'amountBaseUnits', message: 'must be base units as a decimal text' }] },
  })
  expect(await decide('support', { action: 'grant' })).toMatchObject({ status: 409 })
  expect(await decide('support')).toMatchObject({ status: 200, body: { data: { event: 'RefundApproved' } } })
  expect(await decide('support')).toMatchObject({ status: 409, body: { error: expect.stringContaining('no debt') } })
  const approved = { cause: 'overpaid', refund: 'approved', decidedBy: 'support person', role: 'support' }
  expect(await read('/api/finance/refunds')).toMatchObject({ body: { data: { rows: [approved] } } })
  expect((await read('/api/finance/burns')).status).toBe(403)
})

const financeLogin = () => makeMemberLogin(service.database.adminUrl, 'tollbook_finance', 'tollbook_reader')
