import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import { type ParsedList, parsedUnless, parseEntries, repeatedNames } from '../pricing/commaList.ts'
import { filePath, parsedBy, postgresUrl, variable } from './variables.ts'

export const burnConfig = z.object({
  /** Database URL with a login of `tollbook_burner`. Do not use the login of the service. */
  databaseUrl: variable('BURN_DATABASE_URL', postgresUrl),
  keypairFile: variable('BURN_KEYPAIR', filePath),
})

export const payoutConfig = z.object({
  /** Database URL with a login of `tollbook_payout`. Do not use the login of the service. */
  databaseUrl: variable('PAYOUT_DATABASE_URL', postgresUrl),
  wallets: variable('PAYOUT_WALLETS', parsedBy(parseShareWallets, new Map<string, Address>())),
})

/** Example: `provider:ADDRESS,treasury:ADDRESS`. Each entry is a share of the split and its wallet. */
export function parseShareWallets(setting: string): ParsedList<ReadonlyMap<string, Address>> {
  const entries = parseEntries(setting, ':')
  const problems = repeatedNames(entries).map((name) => `names "${name}" more than once; keep one wallet for it`)
  const wallets = new Map<string, Address>()
  for (const { text, name, value } of entries) {
    const address = readAddress(value ?? '')
    if (value === undefined || !/^[a-z][a-z0-9-]{0,30}$/.test(name))
      problems.push(`has "${text}": write share:address, such as provider:ADDRESS, separated by commas`)
    else if (address === undefined) problems.push(`has "${text}": ${value} is not a Solana address`)
    else wallets.set(name, address)
  }
  return parsedUnless(problems, wallets)
}
