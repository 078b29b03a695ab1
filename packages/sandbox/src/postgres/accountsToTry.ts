import { readFile } from 'node:fs/promises'
import type { Account, Owner } from './account.ts'

/**
 * An ordinary user runs Postgres directly. Root must not, so it switches to another account; the least powerful one
 * that works:
 *
 * 1. `nobody`, by setuid. This needs no tool and no new user. It fails if the path to the data directory is closed to
 *    others, as below a 0700 /root or in a directory created by `mktemp -d`.
 * 2. A user namespace in which root appears as `nobody`. To the machine it is still root without its powers, so it can
 *    open
 *    paths closed to others, and all other files of root. This is forbidden in a chroot and usually in a container, and
 *    unknown to macOS.
 * 3. `nobody` with the capability to pass any directory, which a container's root has. It could open every file of the
 *    container, hence last.
 *
 * An ordinary user without a line in /etc/passwd (`docker run --user 12345`) needs the second too: initdb requires a
 * name.
 */
export async function accountsToTry(): Promise<readonly Account[]> {
  const nobody = await readNobody()
  const ids = [`--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, '--clear-groups']
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const unshare = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`]
  if (process.getuid?.() !== 0) {
    return [
      { name: 'self', owner: undefined, prefix: [], setsUid: false },
      { name: 'user namespace', owner: undefined, prefix: unshare, setsUid: false },
    ]
  }
  return [
    { name: 'nobody', owner: nobody, prefix: [], setsUid: true },
    { name: 'user namespace', owner: { uid: 0, gid: 0 }, prefix: unshare, setsUid: false },
    {
      name: 'the unprivileged user with a capability',
      owner: nobody,
      prefix: ['setpriv', ...ids, ...capability],
      setsUid: false,
    },
  ]
}

/** `nobody` is in every passwd file, with the number 65534 nearly everywhere (macOS: -2). */
async function readNobody(): Promise<Owner> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  const match = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(passwd)
  return { uid: Number(match?.[1] ?? 65_534), gid: Number(match?.[2] ?? 65_534) }
}
