# The service, with the load generator beside it. Nothing here needs BuildKit or the network, but for the base image and npm.
ARG NODE_IMAGE=node:24-bookworm-slim

# What npm needs to know, and nothing that changes with the code: the layers of its packages are built once for each lock file.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /orchd
COPY package.json package-lock.json ./
COPY libs/storage/package.json libs/storage/
COPY libs/queue/package.json libs/queue/
COPY libs/health/package.json libs/health/
COPY apps/orchd/package.json apps/orchd/
COPY apps/loadgen/package.json apps/loadgen/

FROM manifests AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM manifests AS production
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund && rm -rf node_modules/.package-lock.json
COPY --from=build /orchd/libs/storage/dist libs/storage/dist
COPY --from=build /orchd/libs/queue/dist libs/queue/dist
COPY --from=build /orchd/libs/health/dist libs/health/dist
COPY --from=build /orchd/apps/orchd/dist apps/orchd/dist
COPY --from=build /orchd/apps/loadgen/dist apps/loadgen/dist

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
COPY --from=production /orchd /orchd
# A new volume takes over owner and mode of the folder it is mounted on.
RUN install -d -o node -g node -m 0700 /data
# By number, so that Kubernetes can tell that it is not root.
USER 1000:1000
ENV ORCHD_HOST=0.0.0.0 ORCHD_PORT=8080 ORCHD_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ORCHD_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/orchd/apps/orchd/dist/main.js"]
