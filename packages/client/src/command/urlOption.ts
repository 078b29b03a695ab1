import { InvalidOption } from '../errorCode.ts'
import { requireHttpUrl } from '../secureUrl.ts'
import { UsageProblem } from './usageProblem.ts'

/** Returns the URL. Throws a `UsageProblem` with the name of the option if `require` rejects the URL. */
export function readUrl(option: string, url: string, require: (url: string) => URL = requireHttpUrl): string {
  try {
    require(url)
    return url
  } catch (error) {
    if (!(error instanceof InvalidOption)) throw error
    throw new UsageProblem(option, error.message)
  }
}
