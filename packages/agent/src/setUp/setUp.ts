import { z } from 'zod'
import { defaultFetch } from '@tollbook/client/defaultFetch'
import { findUrlProblem } from '@tollbook/client/secureUrl'
import { readAddress } from '@tollbook/core/address'
import { describeError } from '@tollbook/core/fault'
import { PolicyProblem, readPolicy } from '../policy/policy.ts'
import { readPolicyFile } from '../policy/policyFile.ts'
import { openWalletFolder, type WalletFolder, writeIfAbsent } from '../walletFolder.ts'
import { readOrMakeKey } from '../walletKey.ts'
import { hostConfigurations } from './hostConfigurations.ts'

/* `mcp init` writes the policy, makes the wallet, and prints the next steps for the owner. */

export interface LocalService {
  readonly baseUrl: string
  readonly rpcUrl?: string | undefined
}

export interface SetUpOrder {
  readonly folder: WalletFolder
  /** Base URL of a service that the agent may pay. Undefined: the service in local mode, or an existing policy is used. */
  readonly service: string | undefined
  readonly rpcUrl: string | undefined
  /** Absent if local mode has not run on this machine. */
  readonly local?: LocalService | undefined
  readonly write: (text: string) => void
}

/** An option is missing or wrong, or the service does not answer. */
export class SetUpProblem extends Error {
  override readonly name = 'SetUpProblem'
}

const mainnetUrl = 'https://api.mainnet-beta.solana.com'
const defaults = { perRequestUsd: '0.25', perDayUsd: '1' } as const

/** Makes the policy and the key if they are missing. Never replaces an existing policy or key. */
export async function setUp({ folder, local, write, ...given }: SetUpOrder): Promise<void> {
  await openWalletFolder(folder)
  const isNew = await policyIsMissing(folder)
  const service = given.service ?? local?.baseUrl
  const host = service === undefined ? undefined : hostOf(service)
  const isLocal = local !== undefined && host === hostOf(local.baseUrl)
  if (isNew) {
    if (service === undefined)
      throw new SetUpProblem('--service is missing: the base URL of the service that the agent may pay')
    const rpcUrl = given.rpcUrl ?? (isLocal ? local.rpcUrl : undefined) ?? mainnetUrl
    await writeIfAbsent(folder.policy, await policyFor(service, rpcUrl))
  }
  const { policy } = await readPolicyFile(folder.policy)
  if (given.service !== undefined && host !== undefined && !Object.hasOwn(policy.hosts, host))
    throw new SetUpProblem(`${folder.policy} is there already and is yours: add "${host}": {} to its hosts`)
  const address = await readOrMakeKey(folder)
  const tokens = Object.entries(policy.mints).map(([mint, { name }]) => `${name} (${mint})`)
  const { perRequestUsd, perDayUsd } = policy.limits
  write(`wallet  ${address}\n`)
  write(`        send it ${tokens.join(' or ')}, and about 0.01 SOL for network fees\n`)
  if (isLocal) write(`        in local mode: npx tollbook faucet ${address} 100\n`)
  write(`policy  ${folder.policy}${isNew ? '' : ' (unchanged)'}\n`)
  write(
    `        ${perRequestUsd} USD a request, ${perDayUsd} USD a day (UTC), at ${Object.keys(policy.hosts).join(', ')}\n`,
  )
  write(`        only you can change it: no tool writes it\n`)
  // Report a new port, because each start of local mode uses another port for its chain.
  if (!isNew && isLocal && local.rpcUrl !== undefined && policy.rpcUrl !== local.rpcUrl)
    write(`        set its rpcUrl to ${local.rpcUrl}: the chain of local mode is no longer at ${policy.rpcUrl}\n`)
  write(hostConfigurations(folder.path))
}

async function policyIsMissing({ policy }: WalletFolder): Promise<boolean> {
  try {
    await readPolicyFile(policy)
    return false
  } catch (error) {
    if (error instanceof PolicyProblem && error.isMissing) return true
    throw error
  }
}

const tokenPrice = z.object({
  data: z.object({
    mint: z.string().refine((mint) => readAddress(mint) !== undefined),
    priceUSD: z.number().positive(),
  }),
})
const priceDigits = 12

function hostOf(service: string): string {
  const problem = findUrlProblem(service)
  if (problem !== undefined) throw new SetUpProblem(`--service: ${problem}`)
  return new URL(service).host
}

async function policyFor(service: string, rpcUrl: string): Promise<string> {
  const host = hostOf(service)
  const { mint, priceUSD } = await readTokenPrice(new URL('/api/token/price', service).href)
  const content = {
    rpcUrl,
    hosts: { [host]: {} },
    // Use a general name, which the owner may change to the name of the token.
    mints: { [mint]: { name: 'token', usdPerToken: decimalOf(priceUSD) } },
    limits: defaults,
    // Also prevents deposits until the owner permits them, because the smallest deposit is 1 dollar.
    confirmAboveUsd: defaults.perRequestUsd,
  }
  const text = JSON.stringify(content, null, 2)
  // Check the text before it is written, because an existing policy is never replaced.
  readPolicy(text, 'of this service')
  return text
}

function decimalOf(usd: number): string {
  return usd.toFixed(priceDigits).replace(/\.?0+$/, '')
}

async function readTokenPrice(url: string): Promise<z.infer<typeof tokenPrice>['data']> {
  const asked = { redirect: 'manual', signal: AbortSignal.timeout(10_000) } as const
  const response = await defaultFetch(url, asked).catch((cause: unknown) => {
    throw new SetUpProblem(`${url} does not answer (${describeError(cause)}): start the service, or correct --service`)
  })
  const { data } = tokenPrice.safeParse(await response.json().catch(() => undefined))
  if (data !== undefined) return data.data
  const why = `${url} answers ${response.status} without a token and its price`
  throw new SetUpProblem(`${why}; if the service pays otherwise, write the policy by hand, as docs/agents.md shows`)
}
