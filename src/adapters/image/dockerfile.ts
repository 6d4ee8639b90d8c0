// The Dockerfile that `opm generate dockerfile` (v1.73) writes, for users who build with a container engine.
import { ImageError } from './image-error.ts'
import { catalogDirectoryLabel } from './image-documents.ts'

export const defaultBaseImage = 'quay.io/operator-framework/opm:latest'

export interface DockerfileOptions {
  readonly directory: string
  readonly base: string
  readonly builder: string
  readonly labels: Readonly<Record<string, string>>
}

/** Throws an ImageError if the builder image is missing or invalid. */
export function renderDockerfile({ directory, base, builder, labels }: DockerfileOptions): string {
  if (builder === 'scratch') throw new ImageError('order', `invalid builder image: "${builder}"`)
  const custom = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `LABEL "${key}"="${value}"\n`)
  return `# The builder image is expected to contain
# /bin/opm (with serve subcommand)
FROM ${builder} as builder

# Copy FBC root into image at /configs and pre-populate serve cache
ADD ${directory} /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${base}
${base === 'scratch' ? binarylessDockerfileTemplate : opmDockerfileTemplate}
COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache

# Set FBC-specific label for the location of the FBC root directory
# in the image
LABEL ${catalogDirectoryLabel}=/configs
${custom.length === 0 ? '' : `\n# Set other custom labels\n${custom.join('')}`}`
}

const opmDockerfileTemplate = `# The base image is expected to contain
# /bin/opm (with serve subcommand) and /bin/grpc_health_probe

# Configure the entrypoint and command
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
`
const binarylessDockerfileTemplate = `# OLMv0 CatalogSources that use binary-less images must set:
# spec:
#   grpcPodConfig:
#     extractContent:
#       catalogDir: /configs
#       cacheDir: /tmp/cache
`
