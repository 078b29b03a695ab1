import { assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { chatServer, sampleModels } from './chatServer.ts'
import { coingecko } from './coingecko.ts'
import { coinpaprika } from './coinpaprika.ts'
import { dexscreenerWith } from './dexscreener.ts'
import { eodhd } from './eodhd.ts'
import { gdelt } from './gdelt.ts'
import { geckoterminalWith } from './geckoterminal.ts'
import { guardian } from './guardian.ts'
import { jupiterWith } from './jupiter.ts'
import { kraken } from './kraken.ts'
import { metNorway } from './metNorway.ts'
import { openMeteo } from './openMeteo.ts'
import { feedsAt, publisherFeeds } from './publisherFeeds.ts'
import { samplePage } from './samplePage.ts'
import type { SampleProvider } from './sampleProvider.ts'
import { openSampleServer, type SampleServer } from './sampleServer.ts'
import { tokensWith } from './tokens.ts'
import { twelveData } from './twelveData.ts'

/** Stand-ins on loopback for the providers that Tollbook queries, for a machine without internet. */
export interface SampleUpstreams {
  /** Address of a provider's stand-in: `http://127.0.0.1:port`. */
  originOf(provider: SampledProvider): string
  /**
   * Key that every stand-in accepts, so that providers which require one are queried too. The operator's own keys stay
   * unused.
   */
  readonly apiKey: string
  readonly newsFeeds: readonly { readonly category: string; readonly url: string }[]
  readonly chatServer: { readonly baseUrl: string; readonly models: typeof sampleModels }
  /** Address of a page for screenshots. */
  readonly pageUrl: string
  close(): Promise<void>
}

/** Names of the providers, as in the settings `<NAME>_URL` and `<NAME>_API_KEY`. */
export type SampledProvider = keyof ReturnType<typeof providersWith>

export interface SampleUpstreamsOptions {
  readonly clock: Clock
  /** Mint of the service token, for which the sample markets then have prices. */
  readonly tokenMint: string
}

const sampleKey = 'sample-key'

export async function startSampleUpstreams({ clock, tokenMint }: SampleUpstreamsOptions): Promise<SampleUpstreams> {
  await using opened = new AsyncDisposableStack()
  const open = async (provider: SampleProvider): Promise<SampleServer> => {
    const server = await openSampleServer(provider, clock)
    opened.defer(() => server.close())
    return server
  }
  const origins = new Map<string, string>(
    await Promise.all(
      Object.entries(providersWith(tokenMint)).map(
        async ([name, provider]) => [name, (await open(provider)).origin] as const,
      ),
    ),
  )
  const [feeds, chat, page] = await Promise.all([open(publisherFeeds), open(chatServer), open(samplePage)])
  const disposables = opened.move()
  return {
    originOf: (provider) => assertPresent(origins.get(provider), 'every provider has a stand-in'),
    apiKey: sampleKey,
    newsFeeds: feedsAt(feeds.origin),
    chatServer: { baseUrl: `${chat.origin}/v1`, models: sampleModels },
    pageUrl: `${page.origin}/`,
    close: () => disposables.disposeAsync(),
  }
}

function providersWith(tokenMint: string) {
  const tokens = tokensWith(tokenMint)
  return {
    COINGECKO: coingecko,
    COINPAPRIKA: coinpaprika,
    KRAKEN: kraken,
    MET_NORWAY: metNorway,
    OPEN_METEO: openMeteo,
    TWELVE_DATA: twelveData,
    EODHD: eodhd,
    GDELT: gdelt,
    GUARDIAN: guardian,
    JUPITER: jupiterWith(tokens),
    DEXSCREENER: dexscreenerWith(tokens),
    GECKOTERMINAL: geckoterminalWith(tokens),
  } satisfies Readonly<Record<string, SampleProvider>>
}
