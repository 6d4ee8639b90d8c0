// The forty-five bugs that a merge bot is said to have sooner or later, and the mutants that stand for each. docs/mutants.md has
// them as a table.
export interface Bug {
  readonly bug: string
  /** Numbers of mutants. */
  readonly made: readonly number[]
}

/** From the first to the forty-fifth. */
export const fortyFiveBugs: readonly Bug[] = [
  { bug: 'drop `sha` from the merge', made: [1, 221] },
  { bug: 'read the head anew before the merge', made: [2] },
  { bug: 'new names only of renames', made: [3] },
  { bug: 'stop after the first page', made: [4] },
  { bug: 'ignore that a list is cut', made: [5] },
  { bug: 'owners from the head', made: [6] },
  { bug: "base from the pull request's ancestry", made: [7] },
  { bug: 'membership by part of a name', made: [8] },
  { bug: 'logins compared with case in one place', made: [9] },
  { bug: '`every` over nothing is true', made: [10] },
  { bug: 'no required checks are a pass', made: [11] },
  { bug: 'approvals by time', made: [12, 520] },
  { bug: "an author's date as the time of the push", made: [13] },
  { bug: 'a label approves', made: [14] },
  { bug: 'an edited comment commands', made: [15, 58] },
  { bug: 'who sent it instead of who wrote it', made: [16] },
  { bug: 'a check by its name alone', made: [132] },
  { bug: 'the text of a status as evidence', made: [601] },
  { bug: 'the list of what is required from the pull request', made: [19] },
  { bug: 'configuration from the merged tree', made: [20] },
  { bug: 'merge again after a 5xx', made: [229] },
  { bug: 'take a job away before it is done', made: [602] },
  { bug: 'remember in memory alone what is to be done', made: [603] },
  { bug: 'give the lock back before the intent is written', made: [226] },
  { bug: 'an error about membership is a yes', made: [25] },
  { bug: 'an alias that is none is a login', made: [26] },
  { bug: "ignore GraphQL's errors", made: [604] },
  { bug: 'mergeable, though nobody could merge it', made: [605] },
  { bug: 'a dismissed review falls back to the one before', made: [29] },
  { bug: 'the last hundred reviews alone', made: [30] },
  { bug: "anybody's marker", made: [31] },
  { bug: 'links are accepted', made: [32] },
  { bug: "`.gitattributes` is a package's file", made: [33] },
  { bug: 'an approval outlives a retarget', made: [34, 609] },
  { bug: 'no audit after the merge', made: [224] },
  { bug: 'a batch lands without its prefixes being validated', made: [465] },
  { bug: 'the signature of JSON that was written anew', made: [516] },
  { bug: 'the SHA-1 header', made: [606] },
  { bug: 'a command inside a block of code', made: [39] },
  { bug: 'the raw title in the message', made: [40] },
  { bug: 'package names in content are not compared', made: [41] },
  { bug: 'an old answer of a replica', made: [42, 83, 511] },
  { bug: 'the end of a suite as its success', made: [607] },
  { bug: 'an administrator overrides', made: [608] },
  { bug: 'merge a stacked pull request', made: [512] },
]
