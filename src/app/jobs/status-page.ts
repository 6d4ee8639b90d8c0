// Returns the address of a pull request's status page, if pages are enabled.
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
