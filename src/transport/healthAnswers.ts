import { type Answer, jsonAnswer } from '../paywall/answer.ts'

/** An answer of the service to a health check, with its age. */
export interface ReportedAnswer {
  readonly answer: Answer
  readonly ageMs: number
}

/** Answers whether the process runs and its event loop has turned within the time. */
export function livenessAnswer(silentMs: number, stuckAfterMs: number): Answer {
  if (silentMs <= stuckAfterMs) return jsonAnswer(200, '{"status":"alive"}')
  return jsonAnswer(503, JSON.stringify({ status: 'stuck', silentMs: Math.round(silentMs) }))
}

/**
 * Answers with the last readiness that the service reported. If the service is stuck, it serves no caller, so the
 * answer is then not ready.
 */
export function readinessAnswer({ answer, ageMs }: ReportedAnswer, stuckAfterMs: number): Answer {
  if (ageMs <= stuckAfterMs) return answer
  return jsonAnswer(503, JSON.stringify({ status: 'not ready', failing: ['event_loop'] }))
}

const msPerSecond = 1_000

/** Answers with the newest metrics and their age. While the event loop is busy, these are metrics of an earlier scrape. */
export function metricsAnswer({ answer, ageMs }: ReportedAnswer): Answer {
  const age = [
    '# HELP tollbook_metrics_age_seconds Time since the service collected these metrics',
    '# TYPE tollbook_metrics_age_seconds gauge',
    `tollbook_metrics_age_seconds ${ageMs / msPerSecond}`,
    '',
  ]
  return { ...answer, body: `${answer.body.replace(/\n*$/, '\n')}${age.join('\n')}` }
}
