/** IDs of `nobody` on Linux. */
export const unprivileged = { uid: 65_534, gid: 65_534 }
