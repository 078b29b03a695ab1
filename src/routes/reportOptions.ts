import { describeReport, reportNames } from '../reports/readReport.ts'

/**
 * Returns the options of the list of reports. `data-accepts` has the parameters of the report, so that the page shows
 * only these filters.
 */
export function reportOptions(): string {
  return reportNames
    .map((name) => {
      const { title, accepts } = describeReport(name)
      return `<option value="${name}" data-accepts="${accepts.join(' ')}">${title}</option>`
    })
    .join('\n')
}
