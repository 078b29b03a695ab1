import { Command, InvalidArgumentError } from 'commander'

/** The command line of a proof, with `--help`. */
export function proofCommand(name: string, about: string): Command {
  return new Command(`npm run proof ${name} --`).description(about).allowExcessArguments(false)
}

/** Reads the value of an option that counts something. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at most seven digits.')
  return Number(text)
}

/** Reads `2/5`: whether an item, by its number, belongs to the second of five parts. */
export function partOf(text: string): (at: number) => boolean {
  const [, part = '0', parts = '0'] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text) ?? []
  if (Number(part) === 0 || Number(part) > Number(parts))
    throw new InvalidArgumentError('It must be a part such as 2/5: the second of five.')
  return (at) => at % Number(parts) === Number(part) - 1
}
