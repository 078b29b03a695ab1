import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files of about ten seconds and more, the longest first. Vitest orders files by their duration in earlier runs. A
 * fresh clone has none, and the order by size started three of the longest last, while a processor had nothing left to
 * do.
 */
export const longFiles: readonly string[] = [
  'test/audit/audit.pg.test.ts',
  'test/chain/verification.chain.test.ts',
  'test/reports/longAnswers.pg.test.ts',
  'test/rails/native/verifyNodes.e2e.test.ts',
  'test/store/seal.pg.test.ts',
  'test/client/payingFetch.e2e.test.ts',
]

/** The longest files first, so that all workers end together. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longFiles.indexOf(relative(this.ctx.config.root, moduleId))
      return index === -1 ? longFiles.length : index
    }
    // The sort is stable, so the other files keep Vitest's own order.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
