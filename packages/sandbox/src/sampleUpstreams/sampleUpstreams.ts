import type { Clock } from '@tollbook/core/clock'
import { chatServer, sampleModels } from './chatServer.ts'
import { coingecko } from './coingecko.ts'
import { coinpaprika } from './coinpaprika.ts'
import { gdelt } from './gdelt.ts'
import { kraken } from './kraken.ts'
import { metNorway } from './metNorway.ts'
import { openMeteo } from './openMeteo.ts'
import { openMeteoGeocoding } from './openMeteoGeocoding.ts'
import { feedsAt, publisherFeeds } from './publisherFeeds.ts'
import { samplePage } from './samplePage.ts'
import type { SampleProvider } from './sampleProvider.ts'
import { openSampleServer } from './sampleServer.ts'
import { yahoo } from './yahoo.ts'

/** Stand-ins on loopback for the providers that Tollbook queries without a key. They are for a machine without internet. */
export interface SampleUpstreams {
  /** URLs of the stand-ins, `http://127.0.0.1:port`. The keys are the first part of the settings `<NAME>_URL`. */
  readonly upstreams: Readonly<Partial<Record<SampledProvider, { readonly url: string }>>>
  readonly newsFeeds: readonly { readonly category: string; readonly url: string }[]
  readonly chatServer: { readonly baseUrl: string; readonly models: typeof sampleModels }
  /** URL of a page for screenshots. */
  readonly pageUrl: string
  close(): Promise<void>
}

export type SampledProvider = keyof typeof providers

const providers = {
  COINGECKO: coingecko,
  COINPAPRIKA: coinpaprika,
  KRAKEN: kraken,
  MET_NORWAY: metNorway,
  OPEN_METEO: openMeteo,
  OPEN_METEO_GEOCODING: openMeteoGeocoding,
  YAHOO: yahoo,
  GDELT: gdelt,
} satisfies Readonly<Record<string, SampleProvider>>

export async function startSampleUpstreams({ clock }: { readonly clock: Clock }): Promise<SampleUpstreams> {
  await using opened = new AsyncDisposableStack()
  const open = async (provider: SampleProvider): Promise<string> => {
    const server = await openSampleServer(provider, clock)
    opened.defer(() => server.close())
    return server.origin
  }
  const upstreams: [string, { readonly url: string }][] = []
  for (const [name, provider] of Object.entries(providers)) upstreams.push([name, { url: await open(provider) }])
  const [feeds, chat, page] = [await open(publisherFeeds), await open(chatServer), await open(samplePage)]
  const disposables = opened.move()
  return {
    upstreams: Object.fromEntries(upstreams),
    newsFeeds: feedsAt(feeds),
    chatServer: { baseUrl: `${chat}/v1`, models: sampleModels },
    pageUrl: `${page}/`,
    close: () => disposables.disposeAsync(),
  }
}
