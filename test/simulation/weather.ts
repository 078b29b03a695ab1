import type { Chance } from './virtualTime.ts'

/**
 * Faults of one run. Each run has some of them and not all, because one fault can hide another: a database that is
 * always away never answers twice.
 */
export interface Weather {
  /** Per call of the database: refused before it ran, or its answer lost after it ran. */
  readonly databaseRefuses: number
  readonly databaseLosesAnswer: number
  /**
   * Per fulfilment that was recorded: its answer is lost and the database away for up to 40 s, as when a server is
   * replaced.
   */
  readonly databaseReplaced: number
  /** Per call: delayed by up to ten seconds. */
  readonly databaseStalls: number
  /** Per minute: the database answers nothing for up to 40 s, longer than an outcome is waited for. */
  readonly databaseOutagesPerMinute: number
  /** Per minute: an instance is killed between two awaits and starts again. */
  readonly killsPerMinute: number
  /** Per minute: the clock of an instance, or of the database, jumps by up to ten minutes, and back later. */
  readonly serverJumpsPerMinute: number
  readonly databaseJumpsPerMinute: number
  /** Per question: a lock that is held is granted again. */
  readonly secondLeader: number
  readonly nodeFails: number
  readonly nodeStalls: number
  /** Maximum lag of a node, in slots. */
  readonly nodeLagSlots: number
  /** Each time that the nodes change, per node: it stands still, denies every transaction, or is of another network. */
  readonly nodeFreezes: number
  readonly nodeHides: number
  readonly nodeForeign: number
  /** Per transaction: not landed by the first broadcast, landed late, or landed and dropped by a fork. */
  readonly transactionLost: number
  readonly transactionLate: number
  readonly transactionForked: number
  /** Per answer: lost between the instance and the caller. */
  readonly answerLost: number
  readonly handlerFails: number
  readonly handlerHangs: number
  readonly streamBreaks: number
}

export const clearSky: Weather = {
  databaseRefuses: 0,
  databaseLosesAnswer: 0,
  databaseReplaced: 0,
  databaseStalls: 0,
  databaseOutagesPerMinute: 0,
  killsPerMinute: 0,
  serverJumpsPerMinute: 0,
  databaseJumpsPerMinute: 0,
  secondLeader: 0,
  nodeFails: 0,
  nodeStalls: 0,
  nodeLagSlots: 0,
  nodeFreezes: 0,
  nodeHides: 0,
  nodeForeign: 0,
  transactionLost: 0,
  transactionLate: 0,
  transactionForked: 0,
  answerLost: 0,
  handlerFails: 0,
  handlerHangs: 0,
  streamBreaks: 0,
}

export function drawWeather(chance: Chance): Weather {
  const some = (most: number) => (chance.happens(0.5) ? (most * chance.between(1, 100)) / 100 : 0)
  return {
    databaseRefuses: some(0.1),
    databaseLosesAnswer: some(0.15),
    databaseReplaced: some(1),
    databaseStalls: some(0.1),
    databaseOutagesPerMinute: some(1),
    killsPerMinute: some(6),
    serverJumpsPerMinute: some(2),
    databaseJumpsPerMinute: some(1),
    secondLeader: some(0.5),
    nodeFails: some(0.2),
    nodeStalls: some(0.1),
    nodeLagSlots: chance.happens(0.5) ? chance.between(1, 60) : 0,
    nodeFreezes: some(0.4),
    nodeHides: some(0.4),
    nodeForeign: some(0.3),
    transactionLost: some(0.3),
    transactionLate: some(0.3),
    transactionForked: some(0.3),
    answerLost: some(0.3),
    handlerFails: some(0.5),
    handlerHangs: some(0.1),
    streamBreaks: some(0.4),
  }
}
