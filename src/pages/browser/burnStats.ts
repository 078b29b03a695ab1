import { dataOf, send, wordsOf } from './api.ts'

/** Burned tokens of a time span, an endpoint or a day. */
export interface Burned {
  readonly tokens: number
  readonly baseUnits: string
  readonly payments: number
}

/** `data` of `/api/token/burn-stats`, limited to the fields that pages use. */
export interface BurnStats {
  readonly mint: string
  readonly decimals: number
  readonly total: Burned
  readonly last24Hours: Burned
  readonly last7Days: Burned
  readonly last30Days: Burned
  readonly byEndpoint: readonly (Burned & { readonly endpoint: string })[]
  readonly byDay: readonly (Burned & { readonly day: string })[]
  readonly confirmed: {
    readonly insidePayments: Pick<Burned, 'baseUnits'>
    readonly inRounds: Pick<Burned, 'baseUnits'>
    readonly lastRound: { readonly at: string; readonly signature: string } | null
  }
  /** Absent without sales in dollars. */
  readonly treasury?: Readonly<Record<'promised' | 'delivered' | 'burned' | 'open', Pick<Burned, 'baseUnits'>>> & {
    readonly sales: readonly { readonly mint: string; readonly symbol?: string; readonly usd: number }[]
  }
  readonly owed: { readonly baseUnits: string; readonly oldestAt: string | null }
  readonly ledger: { readonly position: number }
  readonly asOf: string
}

const refreshMs = 30_000

/** Shows the figures now and every 30 s. `status` shows the error if there are none. */
export async function followBurnStats(show: (stats: BurnStats) => void, status: HTMLElement): Promise<void> {
  const refresh = async () => {
    try {
      show(await dataOf<BurnStats>(await send('api/token/burn-stats', { cache: 'no-store' })))
    } catch (error) {
      status.textContent = `The figures are not available now: ${wordsOf(error)}.`
    }
  }
  setInterval(() => void refresh(), refreshMs)
  await refresh()
}

/** Returns the figures of each time span by the selector of its place on the page. */
export function spansOf({ last24Hours, last7Days, last30Days }: BurnStats) {
  return Object.entries({ '#day': last24Hours, '#week': last7Days, '#month': last30Days })
}
