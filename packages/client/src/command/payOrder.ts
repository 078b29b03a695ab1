import { access, constants, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { proofForms, type ProofForm } from '../encodeProof.ts'
import { type PendingPayment, readPendingPayment } from '../pendingPayment.ts'
import { readKeypairFile } from '../node.ts'
import type { PayerWallet } from '../payerWallet.ts'
import { requireSecureUrl } from '../secureUrl.ts'
import type { LocalDefaults } from './commandDeps.ts'
import type { PayArguments, PayOptions } from './payArguments.ts'
import { readJsonFile, readTextFile } from './fileOption.ts'
import { readUrl } from './urlOption.ts'
import { UsageProblem } from './usageProblem.ts'

export interface PayRequest {
  readonly input: string
  readonly init: RequestInit
}

export interface PayOrder {
  readonly task:
    | { readonly kind: 'buy'; readonly request: PayRequest }
    | { readonly kind: 'resume'; readonly payment: PendingPayment; readonly instead: PayRequest | undefined }
  readonly wallet: PayerWallet
  readonly rpcUrl: string
  readonly maxUsd: string
  readonly form: ProofForm
  readonly expectedMint: string
  readonly usdPerToken?: string
  readonly expectedPaymentWallet?: string
  readonly expectedBurnPercent?: number | 'any'
  /** Keys that verify the receipt. Undefined: the receipt is not verified. */
  readonly receiptKeys: unknown
  readonly output: string | undefined
  /** Undefined: the command's default folder. */
  readonly folder: string | undefined
}

export async function readPayOrder(local: LocalDefaults | undefined, given: PayArguments): Promise<PayOrder> {
  const { options } = given
  if (options.resume === undefined && given.path === undefined) throw missingRequest(given.method)
  const resumed = options.resume === undefined ? undefined : await readStoredPayment(options.resume)
  const paidUrl = resumed === undefined ? options['base-url'] : new URL(resumed.request.url).origin
  const { baseUrl, rpcUrl } = requirePlaces({ ...options, 'base-url': paidUrl }, local)
  const form = proofForms.find((form) => form === options.form)
  if (form === undefined) throw new UsageProblem('--form', `must be one of ${proofForms.join(', ')}`)
  const { 'max-usd': maxUsd, 'usd-per-token': usdPerToken, 'receipt-key': receiptKey } = options
  checkAmount('--max-usd', maxUsd, usdAmount)
  if (usdPerToken !== undefined) checkAmount('--usd-per-token', usdPerToken, usdAboveZero)
  await checkOutput(options.output)

  const own = ownLocal(local, baseUrl)
  return {
    task: await readTask(baseUrl, resumed, given),
    wallet: resumed === undefined ? await readWallet(options, local) : spentWallet(resumed),
    rpcUrl,
    maxUsd,
    form,
    expectedMint: requireMint(options.mint ?? own?.tokenMint ?? resumed?.mint, baseUrl),
    ...(usdPerToken === undefined ? {} : { usdPerToken }),
    ...pinsOf(options, own),
    receiptKeys: receiptKey === undefined ? own?.receiptKey : await readJsonFile('--receipt-key', receiptKey),
    output: options.output,
    folder: options.folder,
  }
}

const usdAmount = /^(0|[1-9]\d{0,11})(\.\d{1,18})?$/
const usdAboveZero = /^(?=.*[1-9])(0|[1-9]\d{0,11})(\.\d{1,18})?$/

function checkAmount(option: string, usd: string, allowed: RegExp): void {
  if (!allowed.test(usd)) throw new UsageProblem(option, `${usd} is not an amount in US dollars such as 0.05`)
}

/** Only local mode has a default. Elsewhere a service could ask for a token that is worth more than it says. */
export function requireMint(mint: string | undefined, baseUrl: string): string {
  if (mint !== undefined) return mint
  throw new UsageProblem('--mint', `is missing: the address of the token in which to pay ${baseUrl}`)
}

/** Checks the output before the payment, so that the user does not pay for an answer that cannot be written. */
async function checkOutput(output: string | undefined): Promise<void> {
  if (output === undefined) return
  const existing = await stat(output).catch(() => undefined)
  if (existing?.isDirectory() === true) throw new UsageProblem('--output', `${output} is a folder; name a file in it`)
  const written = existing === undefined ? dirname(resolve(output)) : output
  await access(written, constants.W_OK).catch((cause: unknown) => {
    throw new UsageProblem('--output', `${written} cannot be written`, { cause })
  })
}

async function readTask(
  baseUrl: string,
  resumed: PendingPayment | undefined,
  given: PayArguments,
): Promise<PayOrder['task']> {
  if (resumed === undefined) return { kind: 'buy', request: await readRequest(baseUrl, given) }
  const instead = given.method === undefined ? undefined : await readRequest(baseUrl, given)
  return { kind: 'resume', payment: resumed, instead }
}

export interface Places {
  readonly 'base-url'?: string | undefined
  readonly 'rpc-url'?: string | undefined
}

export function requirePlaces(given: Places, local: LocalDefaults | undefined) {
  const { 'base-url': baseUrl = local?.baseUrl, 'rpc-url': rpcUrl = local?.rpcUrl } = given
  if (baseUrl === undefined) throw missing('--base-url', 'the URL of the service')
  if (rpcUrl === undefined) throw missing('--rpc-url', 'the URL of a Solana node')
  return { baseUrl, rpcUrl: readUrl('--rpc-url', rpcUrl) }
}

function missing(option: string, what: string): UsageProblem {
  return new UsageProblem(option, `is missing: ${what} (its default comes from local mode, which is not running here)`)
}

export function requireServiceUrl(url: string): string {
  return new URL(readUrl('--base-url', url, requireSecureUrl)).href
}

/**
 * Returns the defaults of local mode only for its own service, because mint, wallet and receipt key do not apply to
 * another service.
 */
export function ownLocal(local: LocalDefaults | undefined, baseUrl: string): LocalDefaults | undefined {
  const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined)
  return local !== undefined && originOf(local.baseUrl) === originOf(baseUrl) ? local : undefined
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function missingRequest(method: string | undefined): UsageProblem {
  const [words, are] = method === undefined ? ['METHOD PATH', 'are'] : ['PATH', 'is']
  return new UsageProblem(words, `${are} missing, for example: GET '/api/data/crypto?symbol=BTC'`)
}

async function readRequest(baseUrl: string, { method, path, options: { json } }: PayArguments): Promise<PayRequest> {
  if (method === undefined || path === undefined) throw missingRequest(method)
  const verb = method.toUpperCase()
  if (!methods.has(verb)) throw new UsageProblem('METHOD', `${method} is not an HTTP method such as GET or POST`)
  if (!path.startsWith('/'))
    throw new UsageProblem('PATH', `${path} does not begin with /; the host of the service goes into --base-url`)
  if (json !== undefined && (verb === 'GET' || verb === 'HEAD'))
    throw new UsageProblem('--json', `a ${verb} request has no body; put the parameters into PATH`)
  const body = json === undefined ? {} : { body: await readBody(json) }
  // Join as text. If the path were resolved as a URL, a path such as //host would lead to that host.
  return { input: requireServiceUrl(baseUrl.replace(/\/+$/, '') + path), init: { method: verb, ...body } }
}

async function readBody(json: string): Promise<string> {
  const text = json.startsWith('@') ? await readTextFile('--json', json.slice(1)) : json
  try {
    JSON.parse(text)
    return text
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    throw new UsageProblem('--json', `is not JSON (${why}); give JSON in single quotes, or @FILE`)
  }
}

export async function readWallet(
  { wallet }: Pick<PayOptions, 'wallet'>,
  local: LocalDefaults | undefined,
): Promise<PayerWallet> {
  const path = wallet ?? local?.demoWallet?.keypairPath
  if (path === undefined) throw missing('--wallet', 'a keypair file of the Solana CLI')
  return readKeypairFile(path)
}

function spentWallet({ wallet }: PendingPayment): PayerWallet {
  return {
    address: wallet,
    signTransaction: () => Promise.reject(new Error('a resumed payment is never signed again')),
  }
}

function pinsOf({ 'burn-percent': burnPercent }: PayOptions, own: LocalDefaults | undefined) {
  return {
    ...(burnPercent === undefined ? {} : { expectedBurnPercent: burnPercentIn(burnPercent) }),
    ...(own === undefined ? {} : { expectedPaymentWallet: own.paymentWallet }),
  }
}

function burnPercentIn(text: string): number | 'any' {
  if (text === 'any') return text
  const percent = /^\d{1,3}(\.\d)?$/.test(text) ? Number(text) : Number.NaN
  if (percent > 0 && percent <= 100) return percent
  throw new UsageProblem('--burn-percent', `must be a number from 0.1 to 100, or any (got ${text})`)
}

async function readStoredPayment(path: string): Promise<PendingPayment> {
  const payment = readPendingPayment(await readTextFile('--resume', path))
  if (payment === undefined) throw new UsageProblem('--resume', `${path} is not a stored payment`)
  requireServiceUrl(payment.request.url)
  return payment
}
