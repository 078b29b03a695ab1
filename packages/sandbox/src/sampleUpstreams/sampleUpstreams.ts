import { readdir } from 'node:fs/promises'
import { extname } from 'node:path'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { chatServer, sampleModels } from './chatServer.ts'
import { feedsAt, publisherFeeds } from './publisherFeeds.ts'
import { samplePage } from './samplePage.ts'
import type { SampleProvider } from './sampleProvider.ts'
import { openSampleServer } from './sampleServer.ts'

/** A machine without internet uses these stand-ins for the providers that Tollbook queries without a key. */
export interface SampleUpstreams {
  /** The keys are the first part of the settings `<NAME>_URL`. */
  readonly upstreams: Readonly<Record<string, { readonly url: string }>>
  readonly newsFeeds: readonly { readonly category: string; readonly url: string }[]
  readonly chatServer: { readonly baseUrl: string; readonly models: typeof sampleModels }
  readonly pageUrl: string
  close(): Promise<void>
}

export async function startSampleUpstreams({ clock }: { readonly clock: Clock }): Promise<SampleUpstreams> {
  await using opened = new AsyncDisposableStack()
  const open = async (provider: SampleProvider): Promise<string> => {
    const server = await openSampleServer(provider, clock)
    opened.defer(() => server.close())
    return server.origin
  }
  const upstreams: [string, { readonly url: string }][] = []
  for (const [name, provider] of await loadProviders()) upstreams.push([name, { url: await open(provider) }])
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

/** The file `metNorway.ts` replaces the upstream of the setting `MET_NORWAY_URL`, and must export `metNorway`. */
async function loadProviders(): Promise<readonly (readonly [name: string, provider: SampleProvider])[]> {
  const folder = new URL('providers/', import.meta.url)
  const names = (await readdir(folder)).flatMap((file) => /^(\w+)\.[jt]s$/.exec(file)?.[1] ?? [])
  return Promise.all(
    names.toSorted().map(async (name) => {
      const module: unknown = await import(new URL(`${name}${extname(import.meta.url)}`, folder).href)
      const provider = new Map<string, unknown>(Object.entries(module ?? {})).get(name)
      assert(isProvider(provider), `providers/${name} exports ${name}`)
      return [name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(), provider] as const
    }),
  )
}

const isProvider = (value: unknown): value is SampleProvider => typeof value === 'function'
