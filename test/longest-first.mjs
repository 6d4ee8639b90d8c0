// Sorts test files so that the longest run first, by their last durations. Without a last run, as in CI, jest would sort by
// file size, and the slow stories, which are small files, would run last on one processor.
import Sequencer from '@jest/test-sequencer'

/** Parts of paths, longest duration first. Other files run after these. */
const slowTestPaths = [
  'test/stories/merge-table',
  'test/stories/two-bots.',
  'test/simulate/every-crash.',
  'test/adapters/store/embedded.',
  'test/publish/publish-catalogs.',
  'test/stories/publishing.',
  'test/evaluate/worker/',
  'test/adapters/store/server.',
  'test/stories/',
  'test/scripts/canary.',
  'test/release/',
  'test/merge/',
  'test/cli/',
  'test/web/server/',
  'test/checks/ownership/',
  'test/sandbox/github/branch-rules/',
  'test/adapters/git/',
]

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = [...super.sort(tests)]
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted
    const rank = ({ path }) => {
      const at = slowTestPaths.findIndex((part) => path.includes(part))
      return at < 0 ? slowTestPaths.length : at
    }
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}
