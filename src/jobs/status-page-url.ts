// Returns the address of a pull request's status page, if pages are enabled.
import type { PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import { formatPullPageUrl } from '../report/urls.ts'
import type { BotSettings } from './settings.ts'

export function formatStatusPageUrl(
  { pages, publicUrl }: Pick<BotSettings, 'pages' | 'publicUrl'>,
  repository: RepositoryName,
  pull: PullNumber,
): string | undefined {
  return pages === 'off' || publicUrl === undefined
    ? undefined
    : `${publicUrl}${formatPullPageUrl(repository, pull)}`
}
