// The branches on which a merge stands while its checks are put on it, before it is pushed to its base. Whoever writes
// rules for all branches leaves these out.

export const temporaryBranches = 'catalog-bot/tmp-'

/** As a ruleset's `exclude` names them all. */
export const temporaryBranchPattern = `refs/heads/${temporaryBranches}*`
