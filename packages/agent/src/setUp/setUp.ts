import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { PolicyProblem, readPolicy } from '../policy/policy.ts'
import { readPolicyFile } from '../policy/policyFile.ts'
import { openWalletFolder, type WalletFolder, writeIfAbsent } from '../walletFolder.ts'
import { readOrMakeKey } from '../walletKey.ts'
import { hostConfigurations } from './hostConfigurations.ts'

/* `mcp init`: writes the policy, makes the wallet, and prints what its owner does next. */

export interface SetUpOrder {
  readonly folder: WalletFolder
  /** Base URL of a service that the agent may pay. Undefined: the policy is there already. */
  readonly service: string | undefined
  readonly rpcUrl: string | undefined
  readonly write: (text: string) => void
}

/** A service or an option with which no policy can be written. */
export class SetUpProblem extends Error {
  override readonly name = 'SetUpProblem'
}

const mainnetUrl = 'https://api.mainnet-beta.solana.com'
const defaults = { perRequestUsd: '0.25', perDayUsd: '1' } as const

/** Never replaces a policy or a key. */
export async function setUp({ folder, service, rpcUrl = mainnetUrl, write }: SetUpOrder): Promise<void> {
  await openWalletFolder(folder)
  const isNew = await policyIsMissing(folder)
  if (isNew) {
    if (service === undefined)
      throw new SetUpProblem('--service is missing: the base URL of the service that the agent may pay')
    await writeIfAbsent(folder.policy, await policyFor(service, rpcUrl))
  }
  const { policy } = await readPolicyFile(folder.policy)
  const address = await readOrMakeKey(folder)
  const tokens = Object.entries(policy.mints).map(([mint, { name }]) => `${name} (${mint})`)
  const { perRequestUsd, perDayUsd } = policy.limits
  write(`wallet  ${address}\n`)
  write(`        send it ${tokens.join(' or ')}, and about 0.01 SOL for network fees\n`)
  write(`policy  ${folder.policy}${isNew ? '' : ' (unchanged)'}\n`)
  write(
    `        ${perRequestUsd} USD a request, ${perDayUsd} USD a day (UTC), at ${Object.keys(policy.hosts).join(', ')}\n`,
  )
  write(`        only you can change it: no tool writes it\n`)
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
    symbol: z.string().optional().catch(undefined),
    priceUSD: z.number().positive(),
  }),
})
const priceDigits = 12

async function policyFor(service: string, rpcUrl: string): Promise<string> {
  if (!URL.canParse(service))
    throw new SetUpProblem(`--service must be a URL such as https://api.example.com (got '${service}')`)
  const { host } = new URL(service)
  const { mint, symbol = 'token', priceUSD } = await readTokenPrice(new URL('/api/token/price', service).href)
  const content = {
    rpcUrl,
    hosts: { [host]: {} },
    mints: {
      [mint]: { name: symbol.replaceAll(/[^\w .-]/g, '').slice(0, 32) || 'token', usdPerToken: decimalOf(priceUSD) },
    },
    limits: defaults,
    confirmAboveUsd: defaults.perRequestUsd,
  }
  const text = JSON.stringify(content, null, 2)
  readPolicy(text, 'of this service')
  return text
}

function decimalOf(usd: number): string {
  return usd.toFixed(priceDigits).replace(/\.?0+$/, '')
}

async function readTokenPrice(url: string): Promise<z.infer<typeof tokenPrice>['data']> {
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(10_000) })
    return tokenPrice.parse(await response.json()).data
  } catch (cause) {
    const why = `${url} names no token and no price; write the policy by hand, as docs/agents.md shows`
    throw new SetUpProblem(why, { cause })
  }
}
