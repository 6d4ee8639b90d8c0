// The order of test files: as jest has it from their last run, the longest first. Where there was none, as in CI, jest goes
// by the size of files, and the stories are short ones that take minutes: they would end alone, on one processor.
import Sequencer from '@jest/test-sequencer'

/** Parts of paths, the longest first. What is missing here is only later than it could be. */
const long = [
  'test/stories/landing-table',
  'test/adapters/store/embedded.',
  'test/publish/publish-catalogs.',
  'test/stories/publishing.',
  'test/stories/crashes.',
  'test/evaluate/worker/',
  'test/adapters/store/server.',
  'test/stories/',
  'test/merge/',
  'test/cli/',
  'test/checks/ownership/',
  'test/sandbox/github/branch-rules/',
  'test/adapters/git/',
]

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = [...super.sort(tests)]
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted
    const rank = ({ path }) => {
      const at = long.findIndex((part) => path.includes(part))
      return at < 0 ? long.length : at
    }
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}
