import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import { hasBegun, isProblems } from '../reports/reportQuestion.ts'
import { UnknownColumn, readQuestion, type ReportName, reportNames } from '../reports/readReport.ts'
import type { ReportRow } from '../reports/reportTable.ts'
import { type Positioned, type Reports, UnknownMint } from '../reports/reports.ts'
import type { SignedClosing } from '@tollbook/core/closingStatement'
import { clusterOf } from '@tollbook/core/networks'
import { ClosingNotReady } from '../reports/closing/closingRange.ts'
import type { UnsignedClosing } from '../reports/closing/readClosing.ts'
import type { Explanation } from '../diagnosis/explanation.ts'
import type { Reconciliation } from '../diagnosis/reconcile.ts'
import { subjectForms } from '../diagnosis/readSubject.ts'
import type { AccessHolder, AccessRefusal, FinanceAccess, FinanceRole } from './financeAccess.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { parseQuery, shownName } from '../transport/parseQuery.ts'
import { type DecideRefund, serveDecision } from './refundDecisions.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'

export interface FinanceRouteDeps {
  readonly clock: Clock
  readonly log: Log
  readonly access: FinanceAccess
  readonly reports: Reports
  /** CAIP-2 name of the network, for links to an explorer. */
  readonly network: string
  /** Origin of the public routes. Empty if they share this listener. Undefined if no origin is configured. */
  readonly publicUrl: string | undefined
  readonly explain: (subject: string) => Promise<Explanation | 'unreadable' | 'unknown'>
  readonly decideRefund: DecideRefund
  readonly signClosing: (closing: UnsignedClosing) => SignedClosing
  readonly reconcile: (mint: string) => Promise<Reconciliation>
  /** Returns the balance of the payment wallets on chain in a mint. Throws a fault if no node answers. */
  readonly walletBaseUnits: (mint: string) => Promise<bigint>
}

/** Creates the routes of the finance API. A request needs a token of the operator's identity provider. */
export function createFinanceRoutes(deps: FinanceRouteDeps): readonly FreeRoute[] {
  const guarded = (
    path: string,
    serve: Guarded['serve'],
    allowed: readonly FinanceRole[] = ['finance', 'auditor'],
  ): FreeRoute => ({
    path,
    serve: (request) => guard(deps, { path, request, serve, allowed }),
  })
  return [
    guarded('/api/finance/summary', (request) => serveSummary(deps, request)),
    ...reportNames.map((report) =>
      guarded(`/api/finance/${report}`, (request) => serveReport(deps, report, request), readersOf(report)),
    ),
    guarded('/api/finance/payments/:reference', (request) => servePayment(deps, request), everyone),
    guarded('/api/finance/reconciliation', (request) => serveReconciliation(deps, request)),
    guarded('/api/finance/closing', (request) => serveClosing(deps, request)),
    decisionRoute(deps),
    guarded('/api/finance/explain/:subject', (request) => serveExplanation(deps, request), everyone),
  ]
}

/** Accepts only POST, because a decision changes the ledger. */
function decisionRoute(deps: FinanceRouteDeps): FreeRoute {
  const path = '/api/finance/decisions'
  return {
    path,
    serve: () => Promise.resolve(errorAnswer('METHOD_NOT_ALLOWED', 'use POST', { headers: { allow: 'POST' } })),
    post: (action) =>
      guard(deps, {
        path,
        request: action,
        serve: (_, holder) => serveDecision(deps.decideRefund, action, holder),
        allowed: ['finance', 'support'],
      }),
  }
}

/** Returns the roles that may read a report. Support may read the lists of payments and refunds, and no other. */
function readersOf(report: ReportName): readonly FinanceRole[] {
  return report === 'payments' || report === 'refunds' ? everyone : ['finance', 'auditor']
}

const everyone = ['finance', 'support', 'auditor'] as const

interface Guarded {
  readonly path: string
  readonly request: FreeRequest
  readonly serve: (request: FreeRequest, holder: AccessHolder) => Promise<FreeAnswer>
  readonly allowed: readonly FinanceRole[]
}

async function guard({ access, log }: FinanceRouteDeps, guarded: Guarded): Promise<FreeAnswer> {
  const { path, request, serve, allowed } = guarded
  const { requestId } = request
  const authorization = request.header('authorization')
  const holder = await access.judge({ authorization, route: path, requestId, allowed })
  if (typeof holder === 'string') return refusals[holder](allowed)
  try {
    return await serve(request, holder)
  } catch (error) {
    if (error instanceof UnknownMint) return invalidRequest([{ field: 'mint', message: error.message }])
    if (error instanceof UnknownColumn) return invalidRequest([{ field: 'columns', message: error.message }])
    if (error instanceof ClosingNotReady) return unavailable(error.message)
    if (!(error instanceof Fault)) throw error
    log.warn({ event: 'finance_report_failed', route: path, requestId, error: describeError(error) })
    return unavailable('the ledger does not answer at the moment')
  }
}

const refusals: Readonly<Record<AccessRefusal, (allowed: readonly FinanceRole[]) => Answer>> = {
  unauthenticated: () => unauthorized('Bearer realm="tollbook finance"', 'a bearer token is needed'),
  invalid_token: () =>
    unauthorized(
      'Bearer realm="tollbook finance", error="invalid_token"',
      'the token is not valid here: wrong key, issuer or audience, or expired',
    ),
  forbidden: (allowed) =>
    jsonAnswer(
      403,
      JSON.stringify({ error: `the token needs one of the roles ${allowed.join(', ')}`, code: 'FORBIDDEN' }),
      {
        'www-authenticate': 'Bearer realm="tollbook finance", error="insufficient_scope"',
      },
    ),
  keys_unavailable: () => unavailable('the keys of the identity provider cannot be had at the moment'),
}

function unauthorized(challenge: string, error: string): Answer {
  return jsonAnswer(401, JSON.stringify({ error, code: 'UNAUTHORIZED' }), { 'www-authenticate': challenge })
}

function unavailable(error: string): Answer {
  return jsonAnswer(503, JSON.stringify({ error, code: 'UNAVAILABLE' }), { 'retry-after': '2' })
}

async function serveSummary(deps: FinanceRouteDeps, { query }: FreeRequest): Promise<FreeAnswer> {
  const found = await reportsOf(deps, query, [])
  if ('problem' in found) return found.problem
  const { reports } = found
  const [summary, onChain] = await Promise.all([reports.summary(), readWallet(deps, reports.token.mint)])
  const more = { paymentWalletOnChainBaseUnits: onChain, publicUrl: deps.publicUrl ?? null }
  return answer({ ...deps, reports }, summary, { ...summary.read, ...more })
}

type Asked =
  | { readonly reports: Reports; readonly given: Readonly<Record<string, string>> }
  | { readonly problem: Answer }

/**
 * Reads the query: the mint, which every report accepts, and the parameters in `accepted`. If `accepted` is undefined,
 * every parameter is accepted.
 */
async function reportsOf(
  { reports }: FinanceRouteDeps,
  query: string,
  accepted: readonly string[] | undefined,
): Promise<Asked> {
  const parsed = parseQuery(query)
  if (!parsed.ok) return { problem: invalidRequest([parsed.problem]) }
  const { mint, ...given } = parsed.values
  const unknown = accepted === undefined ? undefined : Object.keys(given).find((name) => !accepted.includes(name))
  if (unknown !== undefined) {
    const message = `is unknown here; expected ${[...(accepted ?? []), 'mint'].join(' and ')}`
    return { problem: invalidRequest([{ field: shownName(unknown), message }]) }
  }
  return { reports: mint === undefined ? reports : await reports.inMint(mint), given }
}

/** Reads the balance on chain. Null if this fails, because the ledger's figures are useful without it. */
async function readWallet({ walletBaseUnits, log }: FinanceRouteDeps, mint: string): Promise<string | null> {
  try {
    return (await walletBaseUnits(mint)).toString()
  } catch (error) {
    log.warn({ event: 'payment_wallet_unread', error: describeError(error) })
    return null
  }
}

async function serveReport(deps: FinanceRouteDeps, report: ReportName, request: FreeRequest): Promise<FreeAnswer> {
  const asked = await reportsOf(deps, request.query, undefined)
  if ('problem' in asked) return asked.problem
  const { reports } = asked
  const { format, ...given } = asked.given
  if (format !== undefined && format !== 'csv' && format !== 'json')
    return invalidRequest([{ field: 'format', message: 'must be csv or json' }])
  const question = readQuestion(report, given)
  if (isProblems(question))
    return invalidRequest(question.map(({ field, message }) => ({ field: shownName(field), message })))
  const wantsCsv = format === undefined ? /\btext\/csv\b/.test(request.header('accept') ?? '') : format === 'csv'
  if (!wantsCsv) {
    const table = await reports.table(report, question)
    const { columns, rows, totals, next } = table.read
    return answer({ ...deps, reports }, table, {
      report,
      columns,
      rows: rows.map(jsonRow),
      totals: totals === undefined ? null : jsonRow(totals),
      next: next ?? null,
    })
  }
  const csv = await reports.csv(report, question)
  return { status: 200, headers: csvHeaders(report, csv.position), body: csv.read }
}

function csvHeaders(report: ReportName, position: number): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="tollbook-${report}.csv"`,
    'cache-control': 'no-store',
    'x-ledger-position': String(position),
  }
}

async function serveClosing(deps: FinanceRouteDeps, { query }: FreeRequest): Promise<FreeAnswer> {
  const asked = await reportsOf(deps, query, ['month'])
  if ('problem' in asked) return asked.problem
  const { month } = asked.given
  const nowMs = deps.clock.nowMs()
  if (month === undefined || !hasBegun(month, nowMs))
    return invalidRequest([{ field: 'month', message: 'must be a month such as 2026-11, and not after this one' }])
  const closing = deps.signClosing(await asked.reports.closing({ month, nowMs }))
  return jsonAnswer(200, JSON.stringify({ success: true, data: closing }), { 'cache-control': 'no-store' })
}

/** Answers with a reconciliation. This is a separate request from the summary, because it searches the chain. */
async function serveReconciliation(deps: FinanceRouteDeps, { query }: FreeRequest): Promise<FreeAnswer> {
  const asked = await reportsOf(deps, query, [])
  if ('problem' in asked) return asked.problem
  const { mint, decimals } = asked.reports.token
  const reconciliation = await deps.reconcile(mint)
  return jsonAnswer(200, JSON.stringify({ success: true, data: { ...reconciliation, decimals } }))
}

/**
 * Reads the reference in the path. Decodes its colon, which clients may encode, and removes spaces around a copied
 * reference.
 */
function subjectOf({ segment }: FreeRequest): string {
  return segment.replaceAll(/^(?:%(?:09|0a|0d|20))+|(?:%(?:09|0a|0d|20))+$/gi, '').replaceAll(/%3a/gi, ':')
}

async function serveExplanation(deps: FinanceRouteDeps, request: FreeRequest): Promise<FreeAnswer> {
  const explanation = await deps.explain(subjectOf(request))
  if (explanation === 'unreadable') return invalidRequest([{ field: 'subject', message: `must be ${subjectForms}` }])
  if (explanation === 'unknown')
    return errorAnswer(
      'NOT_FOUND',
      'no quote, receipt or debit of a tab with this id is on record; quotes are kept for days, so ask with the signature of the payment',
    )
  const { reference, decimals } = explanation
  const links = reference === null ? null : linksOf(deps, reference)
  return jsonAnswer(200, JSON.stringify({ success: true, data: { explanation, decimals, links } }))
}

async function servePayment(deps: FinanceRouteDeps, request: FreeRequest): Promise<FreeAnswer> {
  const payment = await deps.reports.payment(subjectOf(request))
  if (payment === undefined)
    return errorAnswer('NOT_FOUND', 'the ledger has no payment, payout or burn with this reference')
  const mints = await deps.reports.mints()
  const { decimals } = mints.find(({ mint }) => mint === payment.mint) ?? deps.reports.token
  const data = { payment, decimals, mints, links: linksOf(deps, payment.reference) }
  return jsonAnswer(200, JSON.stringify({ success: true, data }))
}

/** Returns links to pages about the payment. An explorer has neither a local chain nor the debits of a tab. */
function linksOf({ network, publicUrl }: FinanceRouteDeps, reference: string): Json {
  const [, signature] = /^solana:(.+)$/.exec(reference) ?? []
  const cluster = clusterOf(network)
  const query = cluster === 'mainnet-beta' ? '' : `?cluster=${cluster}`
  return {
    network,
    explorer:
      cluster === undefined || signature === undefined ? null : `https://explorer.solana.com/tx/${signature}${query}`,
    checkpoint: publicUrl === undefined ? null : `${publicUrl}/api/ledger/checkpoint`,
    inclusion: publicUrl === undefined ? null : `${publicUrl}/api/ledger/inclusion/`,
  }
}

function answer(
  { clock, reports }: FinanceRouteDeps,
  { position, headPosition }: Positioned<unknown>,
  data: Readonly<Record<string, Json>>,
): Answer {
  const ledger = { position, headPosition }
  const asOf = isoTime(clock.nowMs())
  return jsonAnswer(200, JSON.stringify({ success: true, data: { ...data, ...reports.token, ledger, asOf } }))
}

function jsonRow(row: ReportRow): Json {
  const cells = Object.entries(row).map(([name, cell]): [string, Json] => [
    name,
    typeof cell === 'bigint' ? cell.toString() : cell,
  ])
  return Object.fromEntries(cells)
}
