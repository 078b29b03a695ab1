import type { Config } from '../../../../src/config.ts'
import type { Clock } from '@tollbook/core/clock'
import { chatServer, sampleModel } from './chatServer.ts'
import { coinbase } from './coinbase.ts'
import { coingecko } from './coingecko.ts'
import { coinpaprika } from './coinpaprika.ts'
import { dexscreenerWith } from './dexscreener.ts'
import { gdelt } from './gdelt.ts'
import { geckoterminalWith } from './geckoterminal.ts'
import { guardian } from './guardian.ts'
import { hnAlgolia } from './hnAlgolia.ts'
import { jupiterWith } from './jupiter.ts'
import { kraken } from './kraken.ts'
import { metNorway } from './metNorway.ts'
import { nasdaq } from './nasdaq.ts'
import { nws } from './nws.ts'
import { openMeteo } from './openMeteo.ts'
import { openMeteoGeocoding } from './openMeteoGeocoding.ts'
import { feedsAt, publisherFeeds } from './publisherFeeds.ts'
import { samplePage } from './samplePage.ts'
import type { SampleProvider } from './sampleProvider.ts'
import { openSampleServer, type SampleServer } from './sampleServer.ts'
import { stooq } from './stooq.ts'
import { tokensWith } from './tokens.ts'
import { twelveData } from './twelveData.ts'
import { yahoo } from './yahoo.ts'

/** Stand-ins for everybody whom Tollbook asks, on loopback, for a machine without internet. */
export interface SampleUpstreams {
  /** What of the configuration they take the place of. */
  readonly config: Pick<Config, 'upstreams' | 'aiServers' | 'newsFeeds'>
  /** A page to take a picture of. */
  readonly pageUrl: string
  close(): Promise<void>
}

export interface SampleUpstreamsOptions {
  readonly clock: Clock
  /** The service token, which the markets then know. */
  readonly tokenMint: string
}

type UpstreamName = keyof Config['upstreams']

// Whoever wants a key gets one, so that every provider can be asked. The operator's own stay at home.
const sampleKey = 'sample-key'

export async function startSampleUpstreams({ clock, tokenMint }: SampleUpstreamsOptions): Promise<SampleUpstreams> {
  await using opened = new AsyncDisposableStack()
  const open = async (provider: SampleProvider): Promise<SampleServer> => {
    const server = await openSampleServer(provider, clock)
    opened.defer(() => server.close())
    return server
  }
  const upstreams: Config['upstreams'] = Object.fromEntries(
    await Promise.all(
      Object.entries(providersWith(tokenMint)).map(async ([name, provider]) => {
        const { origin } = await open(provider)
        return [name, { url: origin, apiKey: sampleKey }]
      }),
    ),
  )
  const [feeds, chat, page] = await Promise.all([open(publisherFeeds), open(chatServer), open(samplePage)])
  const kept = opened.move()
  return {
    config: {
      upstreams,
      newsFeeds: feedsAt(feeds.origin),
      aiServers: [{ baseUrl: `${chat.origin}/v1`, model: sampleModel, apiKey: sampleKey }],
    },
    pageUrl: `${page.origin}/`,
    close: () => kept.disposeAsync(),
  }
}

/** Total: a provider that is asked and has no sample does not compile. */
function providersWith(tokenMint: string): Readonly<Record<UpstreamName, SampleProvider>> {
  const tokens = tokensWith(tokenMint)
  return {
    COINGECKO: coingecko,
    COINPAPRIKA: coinpaprika,
    COINBASE: coinbase,
    KRAKEN: kraken,
    MET_NORWAY: metNorway,
    OPEN_METEO: openMeteo,
    OPEN_METEO_GEOCODING: openMeteoGeocoding,
    NWS: nws,
    YAHOO: yahoo,
    STOOQ: stooq,
    NASDAQ: nasdaq,
    TWELVE_DATA: twelveData,
    GDELT: gdelt,
    HN_ALGOLIA: hnAlgolia,
    GUARDIAN: guardian,
    JUPITER: jupiterWith(tokens),
    DEXSCREENER: dexscreenerWith(tokens),
    GECKOTERMINAL: geckoterminalWith(tokens),
  }
}
