import type { OpenQuestion, PaymentLifecycle } from '../payment/paymentLifecycle.ts'

export interface ElectedWork {
  readonly name: string
  readonly question: OpenQuestion
  run(elected: PaymentLifecycle): Promise<void>
}

/**
 * Runs the work under a lease. Takes the lease only if there is open work: a lease costs two commits, and most runs of
 * a quiet service have none. False if another instance holds the lease.
 */
export async function runElectedWork(lifecycle: PaymentLifecycle, work: ElectedWork): Promise<boolean> {
  const open = await lifecycle.findOpen(work.question, 1)
  return open.length === 0 || lifecycle.runElected(work.name, work.run)
}
