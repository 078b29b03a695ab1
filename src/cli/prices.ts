import { Command } from 'commander'
import { divideRoundingDown, formatDecimal } from '@tollbook/core/money'
import type { Price } from '@tollbook/core/quote'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { readConfig } from '../config.ts'
import { dollarOfMint } from '../payment/dollar.ts'
import { silentLog } from '../machine/log.ts'
import { ledgerCodec } from '../payment/events.ts'
import type { PriceListPublished } from '../payment/events/settingEvents.ts'
import { paymentFeeMicroUsd, paymentLamports, smallestPriceMicroUsd } from '../pricing/feeCost.ts'
import { usdDecimals } from '../pricing/priceList.ts'
import { parseTokenPrice } from '../pricing/tokenPrice.ts'
import { newestPriceList } from '../reports/ledgerToken.ts'
import { openDatabase } from '../store/database.ts'
import type { CommandDeps } from './commandDeps.ts'
import { findLedger } from './installation.ts'
import { textTable } from './reportText.ts'
import { exitCodeOf } from './runCommand.ts'

interface PricesFlags {
  readonly database?: string
  readonly solUsd: string
}

const help = `
DATABASE_URL is a login of tollbook_service or tollbook_reader. Local mode is detected automatically.
The fee share is the network fee of a payment by x402 or MPP as a part of the price.
A price below the smallest price of its dollar in CURRENCIES is marked "tabs only": only debits of tabs pay it.`

export function pricesCommand(deps: CommandDeps): Command {
  return new Command('prices')
    .description('list the prices in force in every mint, with the network fee and the smallest profitable price')
    .option('--database <url>', 'postgres:// URL of a role that may read the ledger')
    .option('--sol-usd <price>', 'US dollars of one SOL', '150')
    .addHelpText('after', help)
    .action(async (flags: PricesFlags) => {
      deps.setExitCode(await exitCodeOf(deps, () => show(deps, flags)))
    })
}

async function show(deps: CommandDeps, { database: given, solUsd }: PricesFlags): Promise<number> {
  const solAttoUsd = parseTokenPrice(solUsd)
  if (solAttoUsd === undefined) throw new UsageProblem('--sol-usd', `must be a decimal such as 150, not ${solUsd}`)
  const { databaseUrl } = await findLedger(deps, given)
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook prices', connectionsMax: 1, log: silentLog })
  try {
    const body = await newestPriceList(database)
    const event = body === undefined ? undefined : ledgerCodec.decode(body).event
    const list = event?.kind === 'PriceListPublished' ? event : undefined
    deps.stdout.write(
      list === undefined
        ? 'the ledger has no price list\n'
        : tableOf(list, paymentFeeMicroUsd(solAttoUsd), smallestPaymentMicroUsd),
    )
    return 0
  } finally {
    await database.destroy()
  }
}

function smallestPaymentMicroUsd(mint: string): bigint | undefined {
  return dollarOfMint(mint, readConfig().currencies.accepted)?.minimumMicroUsd
}

/** Returns a table with one row per endpoint: its price in dollars, in the token, and in each other mint. */
export function tableOf(
  { prices, split }: PriceListPublished,
  feeMicroUsd: bigint,
  leastMicroUsd: (mint: string) => bigint | undefined = () => undefined,
): string {
  const mints = [...new Set(prices.map(({ mint }) => mint))]
  const endpoints = [...new Set(prices.map(({ endpoint }) => endpoint))]
  // The first mint is called `token`, because the service token comes first in every price list.
  const names = mints.map((mint, index) => (index === 0 ? 'token' : mint))
  const rows = endpoints.map((endpoint) => {
    const own = prices.filter((price) => price.endpoint === endpoint)
    const priceMicroUsd = own[0]?.priceMicroUsd ?? 0n
    const amounts = mints.map((mint, index) => {
      const price = own.find((each) => each.mint === mint)
      return [names[index] ?? mint, amountText(price, leastMicroUsd(mint))]
    })
    const fee = shareText(feeMicroUsd, priceMicroUsd)
    return { endpoint, USD: usd(priceMicroUsd), ...Object.fromEntries(amounts), 'fee share': fee }
  })
  const columns = ['endpoint', 'USD', ...names, 'fee share']
  const table = textTable({ columns, rows, totals: undefined, next: undefined }, usdDecimals)
  const payer = split.find(({ account }) => account !== 'burn')?.account ?? ''
  const smallestMicroUsd = smallestPriceMicroUsd(feeMicroUsd, split, payer)
  const summary = `Network fee of a payment: ${usd(feeMicroUsd)} USD (${paymentLamports} lamports).`
  const profitable =
    smallestMicroUsd === undefined
      ? ''
      : ` Smallest price whose share for ${payer} pays it: ${usd(smallestMicroUsd)} USD.`
  return `${table}\n${summary}${profitable}\n`
}

function amountText(price: Price | undefined, leastMicroUsd = 0n): string {
  if (price === undefined) return 'not sold'
  const amount = formatDecimal(price.requiredBaseUnits, price.decimals)
  return price.priceMicroUsd < leastMicroUsd ? `${amount} (tabs only)` : amount
}

function usd(microUsd: bigint): string {
  return formatDecimal(microUsd, usdDecimals)
}

function shareText(feeMicroUsd: bigint, priceMicroUsd: bigint): string {
  return priceMicroUsd === 0n ? '' : `${formatDecimal(divideRoundingDown(feeMicroUsd * 1_000n, priceMicroUsd), 1)} %`
}
