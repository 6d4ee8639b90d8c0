// Loads OpenTelemetry only if a collector is configured.
import { noopTracing, type Tracing } from '../../ports/tracing.ts'

/** Rejects for invalid collector settings. */
export async function createTracing(
  environment: Readonly<Record<string, string | undefined>>,
  problem: (error: unknown) => void,
): Promise<Tracing> {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: all,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
    OTEL_SDK_DISABLED: off,
  } = environment
  if (!(all || traces) || off?.toLowerCase() === 'true') return noopTracing
  return (await import('./otel-tracing.ts')).createOtelTracing(environment, problem)
}
