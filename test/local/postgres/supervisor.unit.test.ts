import { expect, test } from 'vitest'
import type { Postmaster } from '@tollbook/sandbox/postgres/postmaster'
import { type Supervisor, supervisePostmaster } from '@tollbook/sandbox/postgres/supervisor'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { createLog } from '../../../src/machine/log.ts'

/** Environment of the supervisor: a clock, a log, and postmasters that end when the test says so. */
interface Scene {
  readonly pausesMs: number[]
  readonly events: string[]
  /** Events reported to the owner. */
  readonly lost: string[]
  readonly end: (how: string) => void
  /** Outcomes of the next launches: a fault is thrown, undefined is a success. The last one repeats without limit. */
  script: readonly (Fault | undefined)[]
  launches: number
  start(): Promise<Supervisor>
  settle(): Promise<void>
}

function makeScene(options: { lifetimeMs: number }): Scene {
  let nowMs = 0
  let endCurrent = (_how: string): void => undefined
  const pausesMs: number[] = []
  const events: string[] = []
  const lost: string[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (durationMs, signal) => {
      pausesMs.push(durationMs)
      return signal?.aborted === true ? Promise.reject(new Error('aborted')) : Promise.resolve()
    },
  }
  const launch = async (): Promise<Postmaster> => {
    const outcome = scene.script[Math.min(scene.launches, scene.script.length - 1)]
    scene.launches++
    if (outcome !== undefined) throw outcome
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    endCurrent = (how) => {
      nowMs += options.lifetimeMs
      resolve(how)
    }
    return { pid: scene.launches, ended, stop: async () => resolve('stopped') }
  }
  const log = createLog({
    level: 'trace',
    name: 'test',
    destination: { write: (line) => void events.push(eventOf(line)) },
  })
  const scene: Scene = {
    pausesMs,
    events,
    lost,
    script: [undefined],
    launches: 0,
    end: (how) => endCurrent(how),
    start: () => supervisePostmaster({ launch, onLost: (error) => lost.push(error.message), log, clock }),
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  }
  return scene
}

const transient = new Fault('shared memory is still in use', { retryable: true })
const lasting = new Fault('no such setting', { retryable: false })

test('a postmaster that dies is replaced at once, and its successor is watched too', async () => {
  const scene = makeScene({ lifetimeMs: 60_000 })
  const supervisor = await scene.start()
  for (const pid of [1, 2, 3]) {
    expect(supervisor.pid()).toBe(pid)
    scene.end('ended with SIGKILL')
    await scene.settle()
  }
  expect(supervisor.pid()).toBe(4)
  expect(scene.pausesMs).toEqual([])
})

test('a restart waits twice as long after each failure, four seconds at most, and gives up after twelve attempts', async () => {
  const scene = makeScene({ lifetimeMs: 60_000 })
  scene.script = [undefined, lasting]
  await scene.start()
  scene.end('ended with SIGKILL')
  await scene.settle()
  expect(scene.pausesMs).toEqual([20, 40, 80, 160, 320, 640, 1280, 2560, 4000, 4000, 4000])
  expect(scene.launches).toBe(1 + 12)
  expect(scene.events.at(-1)).toBe('embedded_postgres_given_up')
  expect(scene.lost).toEqual(['Postgres died and could not be started again'])
})

test('a first start is tried again only when the obstacle may go by itself', async () => {
  const hopeless = makeScene({ lifetimeMs: 0 })
  hopeless.script = [lasting]
  await expect(hopeless.start()).rejects.toBe(lasting)
  expect(hopeless.launches).toBe(1)

  const passing = makeScene({ lifetimeMs: 0 })
  passing.script = [transient, transient, undefined]
  expect((await passing.start()).pid()).toBe(3)
})

test('a postmaster that dies young again and again is restarted ever later, and given up after twelve launches', async () => {
  const scene = makeScene({ lifetimeMs: 10 })
  await scene.start()
  for (let death = 1; death <= 20; death++) {
    scene.end('ended with exit code 1')
    await scene.settle()
  }
  expect(scene.launches).toBe(12)
  expect(scene.pausesMs).toEqual([20, 40, 80, 160, 320, 640, 1280, 2560, 4000, 4000, 4000])
  expect(scene.lost).toHaveLength(1)
})

test('after stop the end of the postmaster does not cause a restart', async () => {
  const scene = makeScene({ lifetimeMs: 60_000 })
  const supervisor = await scene.start()
  await supervisor.stop()
  await scene.settle()
  expect(scene.launches).toBe(1)
  expect(scene.events).toEqual([])
})

test('stop in the middle of a recovery ends it', async () => {
  const scene = makeScene({ lifetimeMs: 60_000 })
  scene.script = [undefined, transient]
  const supervisor = await scene.start()
  scene.end('ended with SIGKILL')
  await supervisor.stop()
  expect(scene.launches).toBeLessThan(1 + 12)
  expect(scene.events).not.toContain('embedded_postgres_given_up')
})

function eventOf(line: string): string {
  const { event }: { event: string } = JSON.parse(line)
  return event
}
