import { createHmac } from 'node:crypto'
import { Writable } from 'node:stream'
import { CommanderError } from 'commander'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import type { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { prepareCommand } from '../../src/cli/prepareCommand.ts'
import { reportCommand, type ReportCommandDeps } from '../../src/cli/report.ts'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { signedClosing } from '@tollbook/core/closingStatement'
import { createLog } from '../../src/machine/log.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { askForQuote, buy } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { openTestService } from '../support/testService.ts'

/*
 * The operator's identity provider is a loopback server that publishes keys; everything else is real.
 */

const issuer = 'https://identity.example'
const audience = 'tollbook-finance'
const ours = await generateKeyPair('EdDSA', { extractable: true })
const foreign = await generateKeyPair('EdDSA')
const publicJwk = { ...(await exportJWK(ours.publicKey)), kid: 'one', alg: 'EdDSA' }
const provider = await openLoopbackServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [publicJwk] }))
})

const lines: Record<string, unknown>[] = []
const destination = new Writable({
  write(chunk, _, done) {
    lines.push(JSON.parse(String(chunk)))
    done()
  },
})
const service = await openTestService({
  log: createLog({ level: 'info', name: 'test', destination }),
  env: { FINANCE_PORT: '0', FINANCE_ISSUER: issuer, FINANCE_JWKS_URL: `${provider.url}/jwks` },
})
const plain = await openTestService({ besides: service })
const financeUrl = service.financeUrl ?? ''
const sale = await buy(service)

const answer = z.object({ data: z.object({ rows: z.array(z.unknown()).default([]) }).loose() })
const detail = z.object({
  data: z.object({
    payment: z.object({ events: z.array(z.object({ kind: z.string() })) }),
    links: z.object({ explorer: z.null() }),
  }),
})
const stated = z.object({ data: signedClosing.optional() })
const refusal = z.object({ details: z.array(z.object({ field: z.string() })) })

interface Claims {
  readonly issuer?: string
  readonly audience?: string
  readonly roles?: unknown
  readonly expiresInSeconds?: number
  readonly notBeforeInSeconds?: number
  readonly subject?: string | undefined
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

function unsigned(claims: Claims = {}, header: object = {}): SignJWT {
  const { roles = ['finance'], expiresInSeconds = 60, notBeforeInSeconds } = claims
  const jwt = new SignJWT({ roles })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'one', ...header })
    .setIssuer(claims.issuer ?? issuer)
    .setAudience(claims.audience ?? audience)
    .setExpirationTime(nowSeconds() + expiresInSeconds)
  if (!('subject' in claims)) jwt.setSubject('mira')
  return notBeforeInSeconds === undefined ? jwt : jwt.setNotBefore(nowSeconds() + notBeforeInSeconds)
}

const tokenOf = (claims: Claims = {}) => unsigned(claims).sign(ours.privateKey)
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const goodClaims = () => ({ iss: issuer, aud: audience, sub: 'mira', exp: nowSeconds() + 60, roles: ['finance'] })

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${financeUrl}${path}`, { headers })
const withToken = async (token: string, path = '/api/finance/summary', headers: Record<string, string> = {}) =>
  get(path, { authorization: `Bearer ${token}`, ...headers })

function hmacToken(secret: string | Buffer): string {
  const body = `${encode({ alg: 'HS256', typ: 'JWT', kid: 'one' })}.${encode(goodClaims())}`
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
}

async function swappedPayload(): Promise<string> {
  const [header, , signature] = (await tokenOf({ roles: [] })).split('.')
  return `${header}.${encode(goodClaims())}.${signature}`
}

const invalid: readonly (readonly [what: string, make: () => Promise<string>])[] = [
  ['of another key', () => unsigned().sign(foreign.privateKey)],
  ['that is expired beyond the skew', () => tokenOf({ expiresInSeconds: -31 })],
  ['that is not valid yet', () => tokenOf({ notBeforeInSeconds: 40 })],
  ['of a foreign issuer', () => tokenOf({ issuer: 'https://elsewhere.example' })],
  ['for another audience', () => tokenOf({ audience: 'another-service' })],
  ['without a subject', () => tokenOf({ subject: undefined })],
  ['with alg none', async () => `${encode({ alg: 'none' })}.${encode(goodClaims())}.`],
  ['with HS256 by the public key as PEM', async () => hmacToken(await exportSPKI(ours.publicKey))],
  ['with HS256 by the raw public key', async () => hmacToken(Buffer.from(publicJwk.x ?? '', 'base64url'))],
  ['whose payload was exchanged', swappedPayload],
  ['of an unknown key id', () => unsigned({}, { kid: 'two' }).sign(foreign.privateKey)],
  [
    'that brings its own key',
    async () => {
      const jwk = await exportJWK(foreign.publicKey)
      return unsigned({}, { jwk }).sign(foreign.privateKey)
    },
  ],
  ['that is nothing', async () => 'abc'],
]

describe('access', () => {
  test.each(invalid)(
    'a token %s is refused with 401 and a challenge, and logged without the token',
    async (_, make) => {
      const token = await make()
      lines.length = 0
      const response = await withToken(token)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
      expect(lines).toContainEqual(
        expect.objectContaining({ event: 'finance_access', outcome: 'invalid_token', route: '/api/finance/summary' }),
      )
      expect(JSON.stringify(lines)).not.toContain(token.split('.')[1] ?? token)
    },
  )

  test('no request is admitted without a token, in any scheme', async () => {
    for (const headers of [{}, { authorization: 'Basic bWlyYTpwdw==' }, { authorization: 'Bearer ' }]) {
      const response = await get('/api/finance/summary', headers)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="tollbook finance"')
    }
    expect((await get(`/api/finance/summary?access_token=${await tokenOf()}`)).status).toBe(401)
  })

  test.each([[[]], [['reader']], ['finance'], [{ finance: true }]])('roles %j are not enough: 403', async (roles) => {
    lines.length = 0
    expect((await withToken(await tokenOf({ roles }))).status).toBe(403)
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'finance_access', outcome: 'forbidden', subject: 'mira', roles: [] }),
    )
  })

  test.each([[['finance']], [['auditor']], [['reader', 'auditor']]])(
    'roles %j read, and the log says who',
    async (roles) => {
      lines.length = 0
      expect((await withToken(await tokenOf({ roles }))).status).toBe(200)
      expect(lines).toContainEqual(
        expect.objectContaining({
          event: 'finance_access',
          outcome: 'granted',
          subject: 'mira',
          roles: roles.filter((role) => role !== 'reader'),
        }),
      )
    },
  )

  test('clocks that differ a little do not cause a rejection', async () => {
    expect((await withToken(await tokenOf({ expiresInSeconds: -20 }))).status).toBe(200)
  })

  test('an identity provider that does not answer is a 503 and not a refusal', async () => {
    const silent = await openLoopbackServer((_, response) => void response.writeHead(500).end())
    const env = { FINANCE_PORT: '0', FINANCE_ISSUER: issuer, FINANCE_JWKS_URL: silent.url }
    const other = await openTestService({ besides: service, env })
    const headers = { authorization: `Bearer ${await tokenOf()}` }
    expect((await fetch(`${other.financeUrl}/api/finance/summary`, { headers })).status).toBe(503)
    await other.close()
  })

  test.each(['/api/finance/summary', '/api/finance/payments', '/finance', '/finance/finance.js'])(
    '%s is like any unknown path on the public listener, and where it is not enabled',
    async (path) => {
      const headers = { authorization: `Bearer ${await tokenOf()}` }
      const unknown = await (await fetch(`${service.baseUrl}/api/nothing`)).text()
      for (const { baseUrl } of [service, plain]) {
        const response = await fetch(`${baseUrl}${path}`, { headers })
        expect([response.status, await response.text()]).toEqual([404, unknown])
      }
      expect(plain.financeUrl).toBeUndefined()
    },
  )

  test('nothing else is served on the listener of finance', async () => {
    for (const path of ['/api/health', '/metrics', '/api/tools/qrcode', '/docs'])
      expect((await get(path)).status).toBe(404)
  })
})

describe('reports over HTTP', () => {
  test('the summary has the sale, and the wallet on chain holds what the ledger says', async () => {
    const { data } = answer.parse(await (await withToken(await tokenOf())).json())
    expect(data).toMatchObject({ payments: 1, burnedBaseUnits: '1500000', decimals: 6, refundsDueBaseUnits: '0' })
    expect(data['paymentWalletOnChainBaseUnits']).toBe(data['paymentWalletBaseUnits'])
  })

  test.each(['burns', 'distributions', 'payments', 'liabilities', 'trial-balance'])(
    '%s comes as JSON, and as CSV with the same rows by Accept and by format',
    async (report) => {
      const token = await tokenOf()
      const { data } = answer.parse(await (await withToken(token, `/api/finance/${report}`)).json())
      expect(data.rows.length).toBeGreaterThan(0)
      for (const csv of [
        await withToken(token, `/api/finance/${report}`, { accept: 'text/csv' }),
        await withToken(token, `/api/finance/${report}?format=csv`),
      ]) {
        expect(csv.headers.get('content-type')).toContain('text/csv')
        expect((await csv.text()).trimEnd().split('\r\n')).toHaveLength(data.rows.length + 1)
      }
    },
  )

  test('payouts of a ledger that has paid nothing out are an empty page, and a file with its header', async () => {
    const token = await tokenOf()
    const { data } = answer.parse(await (await withToken(token, '/api/finance/payouts')).json())
    expect(data).toMatchObject({ rows: [], totals: { paidBaseUnits: '0' } })
    const csv = await (await withToken(token, '/api/finance/payouts?format=csv')).text()
    expect(csv).toBe(
      'paidAt,reference,planId,part,account,wallet,paidBaseUnits,paidTokens,paidAtDayPriceMicroUsd,paidAtDayPriceUsd,position,mint\r\n',
    )
  })

  test('one payment is shown with its events; by signature and by reference; another signature, or none, is not found', async () => {
    const token = await tokenOf()
    const { signature } = sale.receipt
    const { data } = detail.parse(await (await withToken(token, `/api/finance/payments/${signature}`)).json())
    expect(data.payment.events.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['PaymentVerified', 'TokensBurned', 'RequestFulfilled', 'DistributionAllocated']),
    )
    const byReference = await withToken(token, `/api/finance/payments/solana%3A${signature}`)
    const { events } = detail.parse(await byReference.json()).data.payment
    // The payment may have become final in between.
    expect(events).toEqual(expect.arrayContaining(data.payment.events))
    expect((await withToken(token, `/api/finance/payments/${'1'.repeat(63)}2`)).status).toBe(404)
    expect((await withToken(token, '/api/finance/payments/x')).status).toBe(404)
  })

  test('the closing statement of a month verifies with the published keys, once its events are sealed', async () => {
    const token = await tokenOf()
    const month = isoTime(systemClock.nowMs()).slice(0, 7)
    const path = `/api/finance/closing?month=${month}`
    // A running month is stated up to the newest checkpoint, which may be older than the sale.
    const closing = await awaitThat('the sale is in the statement', async () => {
      const response = await withToken(token, path)
      const { data } = stated.parse(response.status === 200 ? await response.json() : {})
      return data?.statement.totals.burned.baseUnits === '1500000' && data
    })
    const keys: unknown = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()
    expect(await verifyClosing({ closing, keys })).toMatchObject({
      valid: true,
      statement: { month, status: 'preliminary' },
    })
    for (const query of ['', '?month=2026-13', '?month=2999-01', `?month=${month}&month=${month}`])
      expect((await withToken(token, `/api/finance/closing${query}`)).status).toBe(400)
  })

  test('a question that is not understood is refused by the name of its field', async () => {
    const token = await tokenOf()
    for (const query of [
      'from=yesterday',
      'by=hour',
      'limit=5000',
      'colour=red',
      'format=xlsx',
      'from=2026-01-01&from=2026-01-02',
    ]) {
      const response = await withToken(token, `/api/finance/burns?${query}`)
      expect([response.status, query, refusal.parse(await response.json()).details[0]?.field]).toEqual([
        400,
        query,
        query.split('=')[0],
      ])
    }
  })

  test('a cursor or a name that was made up finds nothing or is refused, and breaks nothing', async () => {
    const token = await tokenOf()
    for (const path of [
      'payments?cursor=x',
      "payments?cursor=1.1'--",
      'burns?by=day&cursor=x',
      'burns?by=day&cursor=2026-02-31',
      'payments?wallet=%00',
      'payments?cursor=9999999999999.9',
      'burns?by=wallet&cursor=%27',
    ])
      expect([200, 400]).toContain((await withToken(token, `/api/finance/${path}`)).status)
  })
})

test('reports that wait for the database do not delay purchases: they have separate connections', async () => {
  const token = await tokenOf()
  await withAdminSession(service.database.adminUrl, async (admin) => {
    await admin.query('begin')
    await admin.query('lock table reports.payments in access exclusive mode')
    const reports = Array.from({ length: 20 }, () => withToken(token, '/api/finance/payments'))
    const answered = reports.map(async (report) => [`answered with ${(await report).status}`])
    const names = await Promise.race([awaitThat('a report waits', () => namesOfWaiting(admin)), ...answered])
    expect(new Set(names)).toEqual(new Set(['tollbook finance']))
    expect((await askForQuote(service)).quote.memo, 'a quote, which is in the ledger').toMatch(/^tollbook:/)
    await admin.query('rollback')
    expect(new Set((await Promise.all(reports)).map(({ status }) => status))).toEqual(new Set([200]))
  })
})

async function namesOfWaiting(admin: Client): Promise<readonly string[] | undefined> {
  const { rows } = await admin.query<{ name: string }>(
    `select application_name as name from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%reports%'`,
  )
  return rows.length > 0 ? rows.map(({ name }) => name) : undefined
}

describe('tollbook report', () => {
  const run = async (...words: string[]) => {
    const said = { out: '', err: '' }
    const deps: ReportCommandDeps = {
      stdout: { write: (text) => (said.out += text) },
      stderr: { write: (text) => (said.err += text) },
      interrupted: new AbortController().signal,
      setExitCode: () => undefined,
      databaseUrl: () => Promise.resolve(service.database.serviceUrl),
      receiptKey: () => Promise.resolve(makeReceiptKey()),
      clock: systemClock,
    }
    const running = prepareCommand(reportCommand(deps), deps).parseAsync(words, { from: 'user' })
    const exitCodeOf = (error: unknown) => (error instanceof CommanderError ? error.exitCode : error)
    return { code: await running.then(() => 0, exitCodeOf), ...said }
  }

  test('prints the same figures as a table, JSON and CSV', async () => {
    const [table, json, csv] = await Promise.all([
      run('burns', '--by', 'endpoint'),
      run('trial-balance', '--format', 'json'),
      run('payments', '--format', 'csv', '--state', 'fulfilled'),
    ])
    const burnColumns = 'burned burned USD burnedAtDayPrice USD burnOwed burnOwed USD burnOwedAtDayPrice USD promised'
    expect(table.out.split('\n').map((line) => line.split(/ +/).join(' '))).toEqual([
      `endpoint payments ${burnColumns} burnConfirmed burnConfirmedAtDayPrice USD`,
      '/api/tools/qrcode 1 1.5 0.0015 0.0015 0 0 0 0 0 0',
      'total 1 1.5 0.0015 0.0015 0 0 0 0 0 0',
      '',
    ])
    expect(JSON.parse(json.out)).toMatchObject({
      report: 'trial-balance',
      totals: { closingDebitBaseUnits: '5000000' },
    })
    expect(csv.out.split('\r\n')[1]).toContain(sale.receipt.signature)
  })

  test('prints the summary and one payment as HTTP does', async () => {
    expect(JSON.parse((await run('summary')).out)).toMatchObject({ payments: 1, burnedBaseUnits: '1500000' })
    const { signature } = sale.receipt
    const payment = JSON.parse((await run('payment', signature)).out)
    expect(payment).toMatchObject({ reference: `solana:${signature}`, state: 'fulfilled', refunds: [] })
    expect(await run('payment')).toMatchObject({ code: 2, err: expect.stringContaining('needs a signature') })
    expect(await run('summary', '--month', '2026-10')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--month'),
    })
  })

  test('reports each wrong value by name, with exit code 2', async () => {
    expect(await run('burns', '--from', 'May')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--from must be'),
    })
    expect(await run('liabilities', '--wallet', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--wallet'),
    })
    expect(await run('profits')).toMatchObject({ code: 2, err: expect.stringContaining('trial-balance') })
  })
})

describe('pages', () => {
  test('the finance page and the burn page run nothing that does not come from here', async () => {
    for (const url of [`${financeUrl}/finance`, `${service.baseUrl}/burn`]) {
      const response = await fetch(url)
      const html = await response.text()
      expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
      expect(html).not.toMatch(/<script(?![^>]*src=)|<style| style=| on\w+=/)
      for (const [, path = ''] of html.matchAll(/(?:src|href)="((?:finance|burn)\/[^"]+)"/g))
        expect((await fetch(new URL(path, url))).status, path).toBe(200)
    }
  })
})
