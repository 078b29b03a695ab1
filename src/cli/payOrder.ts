import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { proofForms, type ProofForm } from '../client/encodeProof.ts'
import { type PendingPayment, readPendingPayment } from '../client/pendingPayment.ts'
import { type PayerWallet, readKeypairFile } from '../client/payerWallet.ts'
import { type LocalJson, readLocalJson } from './localJson.ts'
import { UsageProblem } from './usageProblem.ts'

export interface PayArguments {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly options: PayOptions
}

export interface PayOptions {
  readonly json?: string
  readonly wallet?: string
  readonly maxUsd: string
  readonly form: string
  readonly baseUrl?: string
  readonly rpcUrl?: string
  readonly mint?: string
  readonly receiptKey?: string
  readonly output?: string
  readonly resume?: string
}

/** What is to be bought, by whom and how, with every default filled in. */
export interface PayOrder {
  /** Undefined when an earlier payment is resumed for its own request. */
  readonly request: { readonly url: string; readonly init: RequestInit } | undefined
  readonly resumed: PendingPayment | undefined
  readonly wallet: PayerWallet
  readonly rpcUrl: string
  readonly maxUsd: string
  readonly form: ProofForm
  readonly expectedMint?: string
  readonly expectedPaymentWallet?: string
  /** Undefined: the receipt is not checked. */
  readonly receiptKeys: unknown
  readonly output: string | undefined
}

/** Throws `UsageProblem`, or a fault where a file is not what it should be. */
export async function readPayOrder(home: string, { method, path, options }: PayArguments): Promise<PayOrder> {
  const local = await readLocalJson(join(home, 'local.json'))
  const resumed = options.resume === undefined ? undefined : await readKeptPayment(options.resume)
  const baseUrl = resumed === undefined ? (options.baseUrl ?? local?.baseUrl) : new URL(resumed.request.url).origin
  if (baseUrl === undefined) throw missing('--base-url', 'the URL of the service')
  const rpcUrl = options.rpcUrl ?? local?.rpcUrl
  if (rpcUrl === undefined) throw missing('--rpc-url', 'the URL of a Solana node')
  const form = proofForms.find((form) => form === options.form)
  if (form === undefined) throw new UsageProblem('--form', `must be one of ${proofForms.join(', ')}`)

  // What local.json says holds for the service that wrote it, and says nothing of another one.
  const own = local !== undefined && isSameOrigin(local.baseUrl, baseUrl) ? local : undefined
  return {
    request: await readRequest(baseUrl, { method, path, json: options.json, isOptional: resumed !== undefined }),
    resumed,
    wallet: resumed === undefined ? await readWallet(options, local) : spentWallet(resumed),
    rpcUrl: requireUrl('--rpc-url', rpcUrl),
    maxUsd: options.maxUsd,
    form,
    ...pinsOf(options, own),
    receiptKeys: options.receiptKey === undefined ? own?.receiptKey : await readJsonFile('--receipt-key', options.receiptKey),
    output: options.output,
  }
}

function missing(option: string, what: string): UsageProblem {
  return new UsageProblem(option, `is missing: ${what} (its default comes from local mode, which is not running here)`)
}

function requireUrl(option: string, url: string): string {
  if (!URL.canParse(url)) throw new UsageProblem(option, `${url} is not a URL such as http://127.0.0.1:3402`)
  return url
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin
}

interface RequestArguments {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly json: string | undefined
  readonly isOptional: boolean
}

async function readRequest(baseUrl: string, { method, path, json, isOptional }: RequestArguments) {
  if (method === undefined && isOptional) return undefined
  if (method === undefined || path === undefined)
    throw new UsageProblem('METHOD PATH', "are missing, for example: GET '/api/data/crypto?symbol=BTC'")
  if (!/^[A-Za-z]{3,7}$/.test(method)) throw new UsageProblem('METHOD', `${method} is no HTTP method; use GET or POST`)
  // Put behind the base as text: resolved as a URL, a path such as //host would lead to that host.
  if (!path.startsWith('/'))
    throw new UsageProblem('PATH', `${path} does not begin with /; the host of the service goes into --base-url`)
  const url = requireUrl('--base-url', requireUrl('--base-url', baseUrl).replace(/\/+$/, '') + path)
  if (json !== undefined && /^(GET|HEAD)$/i.test(method))
    throw new UsageProblem('--json', `a ${method} request has no body; put the parameters into PATH`)
  const body = json === undefined ? undefined : await readBody(json)
  return { url, init: { method: method.toUpperCase(), ...(body === undefined ? {} : { body }) } }
}

async function readBody(json: string): Promise<string> {
  const text = json.startsWith('@') ? await readText('--json', json.slice(1)) : json
  try {
    JSON.parse(text)
    return text
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    throw new UsageProblem('--json', `is not JSON (${why}); give JSON in single quotes, or @FILE`)
  }
}

async function readWallet({ wallet }: PayOptions, local: LocalJson | undefined): Promise<PayerWallet> {
  const path = wallet ?? local?.demoWallet?.keypairPath
  if (path === undefined) throw missing('--wallet', 'a keypair file of the Solana CLI')
  return readKeypairFile(path)
}

/** A resumed payment is signed already, and nothing else shall be. */
function spentWallet({ wallet }: PendingPayment): PayerWallet {
  return {
    address: wallet,
    signTransaction: () => Promise.reject(new Error('a resumed payment is never signed again')),
  }
}

function pinsOf({ mint }: PayOptions, own: LocalJson | undefined) {
  const expectedMint = mint ?? own?.tokenMint
  return {
    ...(expectedMint === undefined ? {} : { expectedMint }),
    ...(own === undefined ? {} : { expectedPaymentWallet: own.paymentWallet }),
  }
}

async function readKeptPayment(path: string): Promise<PendingPayment> {
  const payment = readPendingPayment(await readText('--resume', path))
  if (payment === undefined) throw new UsageProblem('--resume', `${path} is no payment that was kept`)
  return payment
}

async function readJsonFile(option: string, path: string): Promise<unknown> {
  const text = await readText(option, path)
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageProblem(option, `${path} is not JSON; expected the key of the service as JWK or JWKS`)
  }
}

async function readText(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw new UsageProblem(option, `the file ${path} cannot be read`)
  })
}
