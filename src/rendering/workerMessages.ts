import { z } from 'zod'
import type { RenderWork } from './renderEngine.ts'
import { standings } from './renderRecord.ts'
import { finalUrlLengthMax, missingReasons, renderFailureKinds, resultBytesMax } from './renderer.ts'

/*
 * The service checks everything that the worker sends, because a page that takes over the browser may take over the
 * worker next.
 */

export const workerConfig = z.object({
  chromiumPath: z.string().optional(),
  allowHosts: z.array(z.string()),
  denyHosts: z.array(z.string()).optional(),
  loadTimeoutMs: z.number().exactOptional(),
  jobsPerBrowserMax: z.number().exactOptional(),
})
export type WorkerConfig = z.infer<typeof workerConfig>

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
const id = z.int().nonnegative()

/** The service has checked the order. */
export const workerOrder = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('render'),
    id,
    work: z.custom<RenderWork>(isObject),
    standing: z.enum(standings),
    timeoutMs: z.number(),
  }),
  z.object({ type: z.literal('hurry'), id }),
  z.object({ type: z.literal('abandon'), id }),
  z.object({ type: z.literal('close') }),
])
export type WorkerOrder = z.infer<typeof workerOrder>

const sentenceLengthMax = 4_000
const missingMax = 20
const sentence = z.string().max(sentenceLengthMax)

const missing = z.object({
  reason: z.enum(missingReasons),
  detail: sentence,
})

const rendered = z.object({
  bytes: z.custom<Uint8Array>(
    (value) => value instanceof Uint8Array && value.length <= resultBytesMax,
    'at most 32 MiB',
  ),
  httpStatus: z.int().optional(),
  finalUrl: z.string().max(finalUrlLengthMax).optional(),
  missing: z.array(missing).max(missingMax),
  missingGlyphs: z.int().nonnegative(),
  clipped: z.boolean(),
  refusedRequests: z.int().nonnegative(),
})

export const workerNews = z.discriminatedUnion('type', [
  z.object({ type: z.literal('state'), unavailable: sentence.optional(), problem: sentence.optional() }),
  z.object({ type: z.literal('stalled'), id }),
  z.object({ type: z.literal('browserLost'), id }),
  z.object({ type: z.literal('rendered'), id, rendered }),
  z.object({
    type: z.literal('failed'),
    id,
    kind: z.enum(renderFailureKinds),
    message: sentence,
    endsPayment: z.boolean(),
  }),
  z.object({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn']),
    fields: z.record(z.string(), z.unknown()),
  }),
])
export type WorkerNews = z.infer<typeof workerNews>
