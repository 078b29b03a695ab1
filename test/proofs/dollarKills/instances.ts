import { systemClock } from '@tollbook/core/clock'
import { type SpawnedServer, spawnServer, type SpawnOptions } from '../spawnServer.ts'

/** Server processes that are replaced when they are killed. */
export interface Instances extends AsyncDisposable {
  urls(): readonly string[]
  /** Kills one with -9. Resolves when another has taken its place. */
  kill(index: number): Promise<void>
  /** Sends a request to one instance after another until it is decided, as the service asks its callers to. */
  readonly persistentFetch: typeof fetch
  /** Requests that were repeated after a broken connection, and after a 409 or 503. */
  readonly repeats: { broken: number; refused: number }
}

// A start needs Postgres, which may have been killed too.
const startsMax = 30
const startPauseMs = 1_000
// Longer than a dollar is away from its peg, and shorter than a debit is valid.
const triesMax = 1_100
const tryEveryMs = 200
const answerMsMax = 15_000

export async function openInstances(count: number, options: SpawnOptions): Promise<Instances> {
  const servers: SpawnedServer[] = await Promise.all(Array.from({ length: count }, () => start(options)))
  const urls = () => servers.map(({ baseUrl }) => baseUrl)
  const repeats = { broken: 0, refused: 0 }
  let turn = 0

  async function persist(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'GET' ? {} : { body: await request.text() }
    let last: Response | undefined
    for (let tries = 1; tries <= triesMax; tries++) {
      const all = urls()
      const signal = AbortSignal.timeout(answerMsMax)
      const url = `${all[turn++ % all.length]}${pathname}${search}`
      last = await whole(fetch(url, { method, headers, ...body, signal }))
      if (last !== undefined && last.status !== 503 && last.status !== 409) return last
      if (last === undefined) repeats.broken++
      else repeats.refused++
      await systemClock.sleep(tryEveryMs)
    }
    return last ?? Response.error()
  }

  return {
    urls,
    async kill(index) {
      const doomed = servers[index % servers.length]
      if (doomed === undefined) return
      process.kill(doomed.pid, 'SIGKILL')
      await doomed.gone
      servers[index % servers.length] = await start(options)
    },
    persistentFetch: persist,
    repeats,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

async function start(options: SpawnOptions): Promise<SpawnedServer> {
  for (let tries = 1; ; tries++) {
    try {
      return await spawnServer({ ...options, stderr: 'ignore' })
    } catch (error) {
      if (tries === startsMax) throw error
      await systemClock.sleep(startPauseMs)
    }
  }
}

/** An answer of which every byte has arrived. */
async function whole(answering: Promise<Response>): Promise<Response | undefined> {
  try {
    const { status, headers, ...answer } = await answering.then(async (response) => {
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
    return new Response(answer.text, { status, headers })
  } catch {
    return undefined
  }
}
