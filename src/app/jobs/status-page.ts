// Where the bot tells all about a pull request, for reports and the log: its own page, where it has an address and pages.
import type { PullNumber } from '../../change/ids.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { pullAddress } from '../../web/pages/addresses.ts'
import type { Settings } from '../settings.ts'

export function statusPage(
  { pages, publicUrl }: Pick<Settings, 'pages' | 'publicUrl'>,
  repository: RepositoryName,
  pull: PullNumber,
): string | undefined {
  return pages === 'off' || publicUrl === undefined
    ? undefined
    : `${publicUrl}${pullAddress(repository, pull)}`
}
