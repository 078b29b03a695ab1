import type { OpenQuestion, PaymentLifecycle } from '../payment/paymentLifecycle.ts'

/** One round of a job that one instance runs for all. */
export interface ElectedWork {
  readonly name: string
  readonly question: OpenQuestion
  run(elected: PaymentLifecycle): Promise<void>
}

/** Takes the lease only if work is open: a lease costs two commits, and most rounds of a quiet service have none. */
export async function runElectedWork(lifecycle: PaymentLifecycle, work: ElectedWork): Promise<boolean> {
  const open = await lifecycle.findOpen(work.question, 1)
  return open.length === 0 || lifecycle.runElected(work.name, work.run)
}
