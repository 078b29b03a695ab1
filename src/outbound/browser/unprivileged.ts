/** User and group of the processes that render pages: `nobody` on Linux. */
export const unprivileged = { uid: 65_534, gid: 65_534 }
