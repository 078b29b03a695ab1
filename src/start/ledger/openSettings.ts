import type { SaleConfig } from '../../config/saleConfig.ts'
import type { ReceiptSigningKey } from '../../config.ts'
import type { CatalogConfig } from '../../config/catalogConfig.ts'
import type { SealConfig } from '../../config/sealConfig.ts'
import type { TabConfig } from '../../config/tabConfig.ts'
import { termsOfWallet, termsOfWallets } from '../../chain/walletTerms.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { repeat } from '../../jobs/repeat.ts'
import { Fault } from '@tollbook/core/fault'
import {
  type ConfiguredSetting,
  configuredSettings,
  differenceFrom,
  differencesText,
  mintPrefix,
  recordedMint,
  type SettingDifference,
  standingProblem,
} from '../../settings/configuredSettings.ts'
import { publicReceiptKey } from '../../settings/receiptKeys.ts'
import {
  isWithin,
  periodsOf,
  type SettingPeriod,
  settingStanding,
  walletOf,
  walletsOf,
} from '../../settings/settingPeriods.ts'
import {
  dollarOfWalletSetting,
  everyWallet,
  isWalletSetting,
  paymentWalletName,
  tabWalletName,
} from '../../settings/walletSettings.ts'
import { type Address, readAddress } from '@tollbook/core/address'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { SettingStore } from '../../store/settingStore.ts'
import type { PartDeps } from '../partDeps.ts'

export type LedgerSettingsPart = Awaited<ReturnType<typeof openSettings>>

/** Values that must agree with the ledger's record. */
export interface RecordedConfig {
  readonly receiptSigningKey: ReceiptSigningKey
  readonly catalog: Pick<CatalogConfig, 'split'>
  readonly seal: Pick<SealConfig, 'origin'>
  readonly sale: LongestWaits
  readonly tabs: Pick<TabConfig, 'wallet'>
}

type LongestWaits = Pick<SaleConfig, 'claimLeaseMs' | 'quoteTtlMs' | 'quoteGraceMs'>

export interface SettingsDeps extends Pick<PartDeps, 'clock' | 'log'> {
  readonly ledger: { readonly settings: Pick<SettingStore, 'versions' | 'record'> }
  readonly terms: PaymentTerms
  readonly dollars?: readonly Dollar[]
}

interface Opened {
  readonly deps: SettingsDeps
  /** Milliseconds before the end of a setting's period at which an instance stops selling. */
  readonly closingMs: number
  readonly configured: readonly ConfiguredSetting[]
  periods: ReadonlyMap<string, readonly SettingPeriod[]>
  /** On the monotonic clock, so that a change of the system clock does not change the age of the settings. */
  readAtMs: number
}

const refreshMs = 5_000

/** Opens the settings. Throws if a setting differs without a recorded change. */
export async function openSettings(config: RecordedConfig, deps: SettingsDeps) {
  const { terms, clock } = deps
  const dollars = (deps.dollars ?? []).map((dollar) => dollar.terms)
  const every = [terms, ...dollars]
  const origin = await findOrigin(config.seal.origin, deps)
  const receiptKey = publicReceiptKey.parse(config.receiptSigningKey)
  const tabWallet = config.tabs.wallet === undefined ? undefined : readAddress(config.tabs.wallet)
  const sources = { receiptKey, terms, dollars, tabWallet, split: config.catalog.split, origin }
  const configured = configuredSettings(sources)
  const opened: Opened = {
    deps,
    closingMs: closingMsOf(config.sale),
    configured,
    periods: new Map(),
    readAtMs: clock.monotonicMs(),
  }
  await refresh(opened)
  requireRecorded(opened)
  const depositTerms = (mint: Address = terms.mint): PaymentTerms | undefined => {
    const ofMint = every.find((each) => each.mint === mint)
    return tabWallet && ofMint && termsOfWallet(ofMint, tabWallet)
  }
  const check: HealthCheck = { name: 'settings', problem: () => problemOf(opened), causes: ['history', 'ledger'] }
  const job = repeat(deps, { name: 'settings', everyMs: refreshMs, run: () => refresh(opened) })
  const periods = (name: string): readonly SettingPeriod[] => opened.periods.get(name) ?? []
  const walletNameOf = ({ mint }: PaymentTerms) => paymentWalletName(mint === terms.mint ? undefined : mint)
  return {
    origin,
    check,
    /** Records the settings. Call this only after the ledger was compared with its checkpoint. */
    record: () => recordEach(opened),
    refresh: () => refresh(opened),
    periods,
    /**
     * Returns the terms of the wallets that could receive a payment at that time, the configured wallet first. Without
     * a mint, returns the terms of the service token.
     */
    acceptedTerms: (landedAtMs: number, mint: Address = terms.mint): readonly PaymentTerms[] =>
      [...every, ...formerDollars(opened)]
        .filter((each) => each.mint === mint)
        .flatMap((each) => acceptedTerms(each, periods(walletNameOf(each)), landedAtMs)),
    /**
     * Returns the terms of wallets for any purpose: first of the service token, then of each dollar. Former wallets of
     * deposits are included, because deposits are looked up and paid back even after the sale of tabs has ended. Tokens
     * that arrive in the wallet of another mint do not count as a payment, and are owed back.
     */
    allTerms: () => termsOfWallets(every, recordedWallets(opened)),
    /** Also includes dollars that CURRENCIES no longer has, because their last payments may still land. */
    followedTerms: () => termsOfWallets([...every, ...formerDollars(opened)], recordedWallets(opened)),
    /** Terms of a dollar that CURRENCIES no longer has, with its last wallet. */
    formerTerms: (mint: Address) => formerDollars(opened).find((each) => each.mint === mint),
    /** Terms of deposits in a mint, by default the service token. Undefined if no deposits are sold in the mint. */
    depositTerms,
    /** Returns the terms of deposits that could land at that time, those of the configured wallet first. */
    acceptedDepositTerms(landedAtMs: number, mint?: Address): readonly PaymentTerms[] {
      const ofDeposits = depositTerms(mint)
      return ofDeposits === undefined ? [] : acceptedTerms(ofDeposits, periods(tabWalletName), landedAtMs)
    },
    /** Returns the wallets for tabs, newest first. Includes wallets on record even if tabs are no longer sold. */
    tabWallets: () => walletsOf(periods(tabWalletName), tabWallet),
    close: () => job.stop(),
  }
}

const clockMarginMs = 60_000

/** Returns the milliseconds that suffice, after the sale stops, to answer open quotes and running attempts. */
function closingMsOf({ claimLeaseMs, quoteTtlMs, quoteGraceMs }: LongestWaits): number {
  return Math.max(claimLeaseMs, quoteTtlMs + quoteGraceMs) + clockMarginMs
}

async function refresh(opened: Opened): Promise<void> {
  const names = [...new Set([...opened.configured.map(({ name }) => name), ...everyWallet, mintPrefix])]
  const versions = await opened.deps.ledger.settings.versions(names)
  opened.periods = new Map([...versions].map(([name, recorded]) => [name, periodsOf(recorded)]))
  opened.readAtMs = opened.deps.clock.monotonicMs()
}

async function findOrigin(configured: string | undefined, { ledger, terms }: SettingsDeps): Promise<string> {
  const recorded = (await ledger.settings.versions(['origin'])).get('origin')?.at(-1)?.event.value
  return configured ?? (typeof recorded === 'string' ? recorded : `tollbook/${terms.paymentWallet}`)
}

async function recordEach(opened: Opened): Promise<void> {
  // Record one setting at a time. If two instances start with different settings, one of them then stops at the
  // first difference. If all values were recorded together, the record could be a mixture that matches neither
  // instance.
  for (const { name, value } of opened.configured) {
    await opened.deps.ledger.settings.record([{ name, value }])
    await refresh(opened)
    requireRecorded(opened)
  }
}

function requireRecorded({ configured, periods, deps }: Opened): void {
  const nowMs = deps.clock.nowMs()
  const differences = configured.flatMap((setting): SettingDifference[] => {
    const standing = settingStanding(periods.get(setting.name) ?? [], setting.value, nowMs)
    return standing.standing === 'differs' ? [differenceFrom(setting, standing.inForce)] : []
  })
  if (differences.length > 0) throw new Fault(differencesText(differences), { retryable: false })
}

// Age at which the settings count as too old, equal to nine reads. The notice period of a change is longer
// (settingChange.ts), so the service sees every change in time.
const staleMs = 45_000

function problemOf({ configured, periods, deps, closingMs, readAtMs }: Opened): string | undefined {
  const { clock } = deps
  if (clock.monotonicMs() - readAtMs > staleMs) return 'the settings of the ledger have not been read for 45 s'
  const nowMs = clock.nowMs()
  for (const setting of configured) {
    const standing = settingStanding(periods.get(setting.name) ?? [], setting.value, nowMs)
    const problem = standingProblem(setting, standing, { nowMs, closingMs })
    if (problem !== undefined) return problem
  }
  return undefined
}

// A wallet is accepted this many milliseconds before its period starts. Block times and the service's clock differ by
// seconds, or by minutes while the cluster is slow.
const earlyMs = 300_000

function acceptedTerms(terms: PaymentTerms, periods: readonly SettingPeriod[], landedAtMs: number) {
  const ofTime = periods.filter(({ fromMs, untilMs }) => isWithin({ fromMs: fromMs - earlyMs, untilMs }, landedAtMs))
  const wallets = new Set(ofTime.map(walletOf))
  const isOwnOfTime = wallets.delete(terms.paymentWallet)
  const others = [...wallets].map((wallet) => termsOfWallet(terms, wallet))
  return isOwnOfTime ? [terms, ...others] : others
}

function recordedWallets({ periods }: Opened): readonly Address[] {
  return [...periods.values()]
    .flat()
    .filter(({ name }) => isWalletSetting(name))
    .map(walletOf)
}

/**
 * Returns the terms of dollars that are no longer configured. Reads them from the record, because no node is asked
 * about a mint that is not configured.
 */
function formerDollars({ periods, deps }: Opened): readonly PaymentTerms[] {
  const { terms, dollars = [] } = deps
  const { network } = terms
  const current = new Set([terms.mint, ...dollars.map((dollar) => dollar.terms.mint)])
  return [...periods].flatMap(([name, wallets]): PaymentTerms[] => {
    const mint = readAddress(dollarOfWalletSetting(name) ?? '')
    const [last] = wallets.slice(-1)
    if (mint === undefined || last === undefined || current.has(mint)) return []
    const recorded = recordedMint.safeParse(periods.get(`${mintPrefix}${mint}`)?.[0]?.value).data
    const paymentWallet = walletOf(last)
    const unplaced = { mint, network, paymentWallet, paymentTokenAccount: paymentWallet }
    return recorded === undefined ? [] : [termsOfWallet({ ...recorded, ...unplaced }, paymentWallet)]
  })
}
