import { Command, InvalidArgumentError } from 'commander'

/** The command line of a proof, with `--help`. */
export function proofCommand(name: string, about: string): Command {
  return new Command(`npm run proof:${name} --`).description(about).allowExcessArguments(false)
}

/** Reads the value of an option that counts something. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at most seven digits.')
  return Number(text)
}
