"""Subcommands and options that make a program dangerous: deleting, publishing, installing, printing of keys.

A row of ``WITH_WORDS`` is words that are among the arguments in this order. In ``_rows``, an underscore is a space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_guardrails.reasons import (
    AGENTS,
    BRINGS,
    CLOUD,
    CODE,
    DATABASE,
    ENDS,
    FLASHES,
    IMAGES,
    KERNEL,
    KEYS,
    NETWORK,
    OFFERS,
    PACKAGES,
    PUBLISH,
    RECORDS,
    REMOTE,
    SECRETS,
    SERVICES,
    SETTINGS,
    SOURCES,
    SYSTEM_PACKAGES,
    TRASH,
    UNDONE,
    USERS,
    VOLUMES,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BEGINNING_WITH", "WITH_WORDS"]


def _rows(words: str, reason: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    return tuple((each.replace("_", " "), *reason) for each in words.split())


def _by_program(
    *rows: tuple[str | Sequence[str], tuple[tuple[str, str, str], ...]],
) -> dict[str, tuple[tuple[str, str, str], ...]]:
    """Return all rows of each program; one that several rows name has those of all."""
    found: dict[str, tuple[tuple[str, str, str], ...]] = {}
    for names, words in rows:
        for name in (names,) if isinstance(names, str) else names:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *words)))
    return found


_REMOVE = (
    "remove purge autoremove erase uninstall rm del delete cleanup -R -Rs -Rns upgrade dist-upgrade full-upgrade "
    "distro-sync downgrade groupremove"
)

WITH_WORDS: dict[str, tuple[tuple[str, str, str], ...]] = _by_program(
    (("uv", "poetry", "flit", "hatch"), _rows("publish unpublish yank", PUBLISH)),
    (
        "cargo",
        _rows(
            "publish unpublish yank owner_--add owner_-a owner_--remove owner_-r release_--execute release_-x", PUBLISH
        )
        + _rows("uninstall", PACKAGES)
        + _rows("login", SECRETS),
    ),
    (
        ("npm", "pnpm", "yarn", "bun"),
        (
            *_rows(
                "publish unpublish deprecate dist-tag_add dist-tag_rm owner_add owner_rm "
                "access_public access_restricted "
                "access_grant access_revoke access_set star",
                PUBLISH,
            ),
            *_rows("config_set config_delete config_edit", SETTINGS),
            *_rows("token adduser login", SECRETS),
            *_rows("audit_fix_--force audit_--force_fix", BRINGS),
            *_rows("uninstall_-g uninstall_--global -g_uninstall remove_-g rm_-g global_remove", PACKAGES),
        ),
    ),
    (
        "apt apt-get aptitude dnf yum zypper apk pacman brew snap flatpak pkg port choco scoop winget".split(),
        _rows(_REMOVE, PACKAGES),
    ),
    (
        ("docker", "podman", "nerdctl"),
        (
            *_rows(
                "system_prune volume_rm volume_prune image_prune container_prune builder_prune network_prune rm_-f "
                "rm_-af rm_-fv rm_--force rm_-vf container_rm rmi compose_down_-v compose_down_--volumes compose_rm "
                "stack_rm swarm_leave context_use context_rm system_reset volume_import image_rm network_rm secret_rm "
                "config_rm node_rm service_rm service_scale service_update buildx_prune buildx_rm pod_rm machine_rm "
                "manifest_rm rmi volume_reload  ",
                IMAGES,
            ),
            *_rows("push image_push buildx_--push build_--push", PUBLISH),
            *_rows("plugin_install", BRINGS),
            *_rows("login", SECRETS),
        ),
    ),
    (("mamba", "micromamba"), _rows("remove uninstall env_remove", PACKAGES)),
    (
        ("kubectl", "oc"),
        _rows(
            "delete drain cordon taint scale apply create replace patch edit set rollout_restart rollout_undo "
            "rollout_pause rollout_resume cp run label annotate expose autoscale debug attach certificate_approve "
            "certificate_deny auth_reconcile adm",
            CLOUD,
        )
        + _rows(
            "config_use-context config_use config_set-context config_set config_delete-context config_delete-cluster "
            "config_unset config_rename-context",
            SETTINGS,
        )
        + _rows("proxy_--address port-forward_--address", OFFERS)
        + _rows(
            "get_secret_-o get_secrets_-o get_secret_-oyaml get_secret_-ojson config_view_--raw create_token", SECRETS
        )
        + _rows("krew_install krew_upgrade", BRINGS),
    ),
    (
        ("terraform", "tofu", "terragrunt"),
        _rows(
            "destroy apply state_rm state_push state_mv state_replace-provider taint untaint import force-unlock "
            "workspace_delete refresh run-all",
            CLOUD,
        )
        + _rows("state_pull", SECRETS),
    ),
    (
        ("fly", "flyctl"),
        _rows(
            "destroy apps_destroy deploy scale secrets_set secrets_unset secrets_import ssh machine_stop machine_kill "
            "machine_update machine_restart apps_restart suspend proxy launch",
            CLOUD,
        )
        + _rows("auth_token tokens_create", SECRETS),
    ),
    (("mvn", "mvnw"), _rows("deploy release:perform", PUBLISH)),
    (
        ("gradle", "gradlew"),
        _rows(
            "publish uploadArchives publishToMavenCentral publishPlugins bintrayUpload publishAllPublicationsToMaven "
            "closeAndReleaseRepository",
            PUBLISH,
        ),
    ),
    (("serverless", "sls", "sam", "eb"), _rows("deploy remove delete terminate", CLOUD)),
    (("stack", "cabal", "anaconda", "snapcraft"), _rows("upload", PUBLISH)),
    (("nuget", "oras", "crane", "pod"), _rows("push delete trunk_push", PUBLISH)),
    (
        ("rails", "rake"),
        (
            *_rows(
                "db:drop db:reset db:purge db:drop:_unsafe db:rollback db:migrate:down db:migrate:reset db:schema:load "
                "db:structure:load db:setup db:seed:replant db:migrate:redo db:fixtures:load db:drop:all",
                DATABASE,
            ),
            ("db:truncate_all", *DATABASE),
            ("db:environment:set", *DATABASE),
            *_rows("release credentials:edit", PUBLISH),
        ),
    ),
    (
        "artisan",
        _rows("migrate:fresh migrate:reset db:wipe migrate:refresh migrate:rollback", DATABASE)
        + _rows("tinker_--execute", CODE),
    ),
    (
        ("console", "doctrine"),
        _rows(
            "doctrine:database:drop doctrine:schema:drop doctrine:schema:update doctrine:fixtures:load "
            "orm:schema-tool:drop",
            DATABASE,
        ),
    ),
    (
        "aws",
        _rows(
            "s3_rm s3_rb s3_mb s3_mv s3_presign --delete logs_delete-log-group logs_delete-log-stream "
            "logs_put-retention-policy ecr_delete-repository ecr_batch-delete-image sts_assume-role sso_logout",
            CLOUD,
        )
        + _rows(
            "configure_export-credentials configure_get secretsmanager_get-secret-value ssm_--with-decryption "
            "sts_get-session-token sts_get-federation-token ecr_get-login-password ecr_get-authorization-token "
            "iam_get-credential-report cognito-idp_admin-get-user kms_decrypt lambda_get-function",
            SECRETS,
        )
        + _rows("configure_set configure_import", SETTINGS),
    ),
    (
        "az",
        _rows(
            "delete delete-batch purge upload upload-batch create update start stop restart deallocate set add remove "
            "invoke regenerate renew failover reset redeploy reimage import restore run-command ssh",
            CLOUD,
        )
        + _rows(
            "get-access-token create-for-rbac secret_show keys_list list-keys connection-string "
            "show-connection-string login",
            SECRETS,
        ),
    ),
    ("date", _rows("-s --set", KERNEL)),
    ("defaults", _rows("write delete import", SETTINGS)),
    ("dbt", _rows("--full-refresh", DATABASE)),
    ("forge", _rows("--broadcast", PUBLISH)),
    (
        "gluster",
        _rows("volume_stop volume_start volume_delete volume_set volume_reset remove-brick peer_detach", CLOUD),
    ),
    ("guix", _rows("package_-i package_-r package_-u package_-m package_--install package_--remove", SYSTEM_PACKAGES)),
    ("idf.py", _rows("flash erase-flash erase_all app-flash", FLASHES)),
    ("nix-channel", _rows("--add --update --remove --rollback", SOURCES)),
    ("nix-env", _rows("-e --uninstall -u --upgrade --delete-generations --rollback", PACKAGES)),
    ("nix-store", _rows("--gc --delete", ("delete", "it deletes what was built or installed"))),
    ("nrfjprog", _rows("--program --eraseall --recover --erasepage --memwr", FLASHES)),
    (("pio", "platformio"), _rows("-t_upload --target_upload -t_erase -t_program -t_uploadfs", FLASHES)),
    ("direnv", _rows("allow permit grant", ("dynamic-command", "it lets the folder's .envrc run from now on"))),
    ("b2", (*_rows("upload-file upload_file sync rm delete-bucket", CLOUD), ("delete_bucket", *CLOUD))),
    ("azcopy", _rows("copy cp c sync remove rm", CLOUD)),
    ("doctl", _rows("delete destroy", CLOUD)),
    (
        "gcloud",
        _rows(
            "delete deploy create update set add-iam-policy-binding remove-iam-policy-binding enable disable reset "
            "start stop resize import export ssh scp submit patch rollback rm execute destroy undelete cancel drain "
            "promote set-iam-policy abandon failover restart rsync mv",
            CLOUD,
        )
        + _rows("print-access-token print-identity-token versions_access", SECRETS),
    ),
    (
        "gh",
        (
            *_rows(
                "repo_delete release_delete repo_edit repo_archive repo_rename secret_set secret_delete variable_set "
                "pr_merge issue_delete workflow_run workflow_disable ssh-key_add gpg-key_add -X_DELETE --method_DELETE "
                "cache_delete run_delete codespace_delete codespace_ssh codespace_cp codespace_create "
                "pr_--delete-branch pr_close_-d "
                "release_delete-asset deploy-key ruleset_delete label_delete project_delete org repo_sync_--force "
                "issue_transfer issue_lock workflow_enable attestation gpg-key_delete ssh-key_delete repo_create "
                "repo_unarchive gist_delete gist_edit",
                CLOUD,
            ),
            *_rows(
                "auth_token auth_status_-t auth_status_--show-token auth_login auth_refresh auth_setup-git", SECRETS
            ),
            *_rows(
                "alias_set alias_import extension_install extension_upgrade extension_exec config_set_editor "
                "config_set_pager config_set_browser config_set_http_unix_socket",
                ("dynamic-command", "it adds commands that run any program"),
            ),
            *_rows("gist_create release_upload release_create", PUBLISH),
        ),
    ),
    ("gio", _rows("trash remove", TRASH)),
    ("go", _rows("env_-w", SETTINGS)),
    ("gsutil", _rows("rm rb acl_set acl_ch defacl iam_set iam_ch lifecycle_set mv web_set cors_set", CLOUD)),
    ("hdiutil", _rows("erasevolume eraseKeys burn detach", VOLUMES)),
    ("helm", _rows("uninstall delete rollback install upgrade", CLOUD)),
    (
        "heroku",
        _rows(
            "run pg:reset pg:push pg:pull pg:psql apps:destroy addons:destroy ps:scale ps:restart config:set "
            "config:unset releases:rollback maintenance:on maintenance:off domains:remove domains:add ps:stop ps:kill "
            "pg:promote pg:backups:restore access:add access:remove apps:transfer apps:rename container:push "
            "container:release addons:create drains:add ps:exec redis:cli features:enable certs:remove",
            CLOUD,
        )
        + _rows("config config:get auth:token pg:credentials pg:credentials:url", SECRETS),
    ),
    ("rbw", _rows("get code", SECRETS)),
    ("kubeseal", _rows("--recovery-unseal", SECRETS)),
    (("lpass", "keepassxc-cli", "enpasscli", "dashlane", "dcli"), _rows("show export clip password", SECRETS)),
    ("asdf", _rows("plugin_remove plugin-remove uninstall", PACKAGES)),
    ("jj", _rows("git_push_--all git_push_--deleted", PUBLISH)),
    ("talosctl", _rows("reset upgrade apply-config shutdown reboot rollback bootstrap patch edit", CLOUD)),
    (("kubeadm", "k0s", "k3s", "rke", "rke2"), _rows("reset init join upgrade uninstall", CLOUD)),
    ("jj", _rows("abandon restore undo op_restore op_abandon op_undo squash_--into bookmark_delete", UNDONE)),
    (
        "hg",
        _rows(
            "update_-C update_--clean up_-C checkout_-C checkout_--clean revert strip purge rollback push_-f "
            "push_--force histedit",
            UNDONE,
        ),
    ),
    ("svn", _rows("revert cleanup_--remove-unversioned delete rm propset_svn:externals", UNDONE)),
    (
        ("bzr", "fossil", "p4", "darcs", "pijul", "sl"),
        _rows("revert clean obliterate unrecord uncommit push_--overwrite push_--force push_-f", UNDONE),
    ),
    ("repo", _rows("forall sync_--force-sync abandon prune", UNDONE)),
    ("dvc", _rows("gc remove destroy", ("delete", "it deletes data"))),
    ("git-lfs", _rows("prune_--force migrate", UNDONE)),
    (
        "glab",
        _rows(
            "mr_merge mr_close mr_delete repo_delete release_delete variable_set variable_delete ci_run ci_delete "
            "issue_delete ci_cancel repo_transfer auth_login ssh-key_add deploy-key_add release_create snippet_create",
            CLOUD,
        ),
    ),
    ("loginctl", _rows("enable-linger terminate-user terminate-session kill-user poweroff reboot", SERVICES)),
    (
        "manage.py",
        (
            *_rows("flush sqlflush zero sqlclear dropdb loaddata", DATABASE),
            *(
                (each, *DATABASE)
                for each in ("reset_db", "remove_stale_contenttypes", "reset_schema", "delete_squashed")
            ),
            *_rows("shell_-c shell_--command runscript dbshell_-c", CODE),
            *(("shell_plus -c", *CODE), ("changepassword", *USERS), ("createsuperuser --noinput", *USERS)),
        ),
    ),
    (("alembic", "flask", "aerich"), _rows("downgrade", DATABASE)),
    (("dbmate", "goose", "migrate", "sqlx", "diesel", "atlas"), _rows("down drop reset revert", DATABASE)),
    ("goose", _rows("run session", AGENTS)),  # the agent; a tool for databases has the same name
    ("copilot", _rows("-p --prompt -i --interactive", AGENTS)),
    ("q", _rows("chat", AGENTS)),
    (("flyway", "liquibase"), _rows("clean dropAll drop-all rollback undo", DATABASE)),
    (
        ("typeorm", "sequelize", "sequelize-cli", "knex"),
        _rows("schema:drop migration:revert db:drop db:migrate:undo:all db:migrate:undo migrate:rollback", DATABASE),
    ),
    (("s3cmd", "mc", "s5cmd", "minio"), _rows("del rm rb sync mirror", CLOUD)),
    (
        ("restic", "borg", "kopia", "duplicity"),
        _rows("forget prune delete remove-all-but-n-full snapshot_delete", ("delete", "it deletes backups")),
    ),
    (
        ("etcdctl", "zkcli", "consul"),
        _rows("del delete deleteall rmr put leave snapshot_restore member_remove set force-leave acl", CLOUD),
    ),
    (("valkey-cli", "keydb-cli"), _rows("FLUSHALL FLUSHDB flushall flushdb", DATABASE)),
    ("mongorestore", _rows("--drop", DATABASE)),
    (
        "rabbitmqctl",
        tuple(
            (each, *DATABASE)
            for each in (
                *(
                    "reset",
                    "force_reset",
                    "purge_queue",
                    "delete_queue",
                    "delete_vhost",
                    "stop",
                    "stop_app",
                    "shutdown",
                ),
                *("add_user", "delete_user", "change_password", "set_permissions", "forget_cluster_node"),
            )
        ),
    ),
    ("nomad", _rows("stop job_stop job_run run system_gc node_drain alloc_exec alloc_stop", CLOUD)),
    ("chezmoi", _rows("purge apply destroy", ("outside", "it changes files in the home folder"))),
    ("mix", _rows("ecto.drop ecto.reset ecto.rollback hex.publish hex.retire", DATABASE)),
    ("neo4j-admin", _rows("database_load load restore --overwrite-destination set-initial-password", DATABASE)),
    ("hasura", _rows("--down metadata_clear metadata_reset seed_apply deploy", DATABASE)),
    ("influx", _rows("delete bucket_delete org_delete restore auth_create", DATABASE)),
    ("mysqlimport", _rows("--delete -D --replace", DATABASE)),
    ("mongoimport", _rows("--drop --mode=delete --mode=upsert", DATABASE)),
    ("pg_restore", _rows("--clean -c --create -C", DATABASE)),
    ("createuser", _rows("-s --superuser -r --createrole", DATABASE)),
    ("initdb", _rows("-D --pgdata", DATABASE)),
    (
        ("kafka-topics", "kafka-configs", "kafka-acls", "kafka-consumer-groups", "kafka-reassign-partitions"),
        _rows("--delete --alter --remove --reset-offsets --execute --delete-offsets --add", DATABASE),
    ),
    (
        ("nats", "pulsar-admin", "rabbitmqadmin", "rpk"),
        _rows("rm delete purge del terminate clear-backlog expire-messages stream_edit", DATABASE),
    ),
    (
        "drush",
        _rows(
            "sql:drop sql-drop site:install site-install si sql:sync sql-sync php:eval php-eval ev entity:delete "
            "config:import cim pm:uninstall user:cancel",
            DATABASE,
        ),
    ),
    (
        "rustup",
        _rows(
            "install toolchain_install component_add target_add toolchain_link default override_set "
            "toolchain_uninstall self_uninstall self_update",
            BRINGS,
        ),
    ),
    (
        (
            "apm asdf cabal carthage conan dart flutter fnm ghcup goenv helm jupyter luarocks micro nimble nodenv "
            "nuget nvm opam paru pear pecl pyenv raco rbenv sdk shards spack stack tlmgr vcpkg volta yay"
        ).split(),
        _rows(
            "install -S -Sy -Syu -U plugin_install plugin_add plugins_install pub_add pub_global_activate "
            "pub_global_run repo_add switch_create nbextension_install labextension_install serverextension_enable",
            BRINGS,
        )
        + _rows("pub_publish upload publish push delete", PUBLISH)
        + _rows("uninstall destroy rollback upgrade halt ssh", CLOUD),
    ),
    ("packer", _rows("install plugins_install", BRINGS) + _rows("build", CLOUD)),
    ("pipx", _rows("upgrade-all reinstall-all upgrade", BRINGS)),
    ("snap", _rows(f"refresh revert alias {_REMOVE}", PACKAGES)),
    ("vercel", _rows("env_add env_rm env_remove env_pull env_update", CLOUD)),
    (
        "argocd",
        _rows(
            "app_delete app_sync app_rollback app_set app_unset app_patch app_create app_terminate-op proj_delete "
            "cluster_rm cluster_add repo_rm repo_add account",
            CLOUD,
        ),
    ),
    ("hub", _rows("release_create release_delete delete create fork", PUBLISH)),
    (("ansible-galaxy", "ansible-pull"), _rows("install -U", BRINGS)),
    ("corepack", _rows("prepare use install up", BRINGS)),
    ("dnf", _rows(f"config-manager copr_enable swap update {_REMOVE}", PACKAGES)),
    ("yum", _rows(f"config-manager swap update {_REMOVE}", PACKAGES)),
    ("zypper", _rows(f"addrepo ar removerepo rr dup {_REMOVE}", PACKAGES)),
    ("pacman-key", _rows("--add -a --recv-keys -r --init", SOURCES)),
    (
        "brew",
        _rows(
            f"services_start services_stop services_restart services_run services_kill services_cleanup "
            f"link_--overwrite {_REMOVE}",
            PACKAGES,
        ),
    ),
    ("composer", _rows("config_repositories config_-g config_--global", SOURCES)),
    (
        "gem",
        _rows("push yank owner_-a owner_--add owner_-r owner_--remove", PUBLISH)
        + _rows("update_--system uninstall", PACKAGES)
        + _rows("sources_--add sources_-a sources_--remove", SOURCES),
    ),
    ("bundle", _rows("config_set config_--global", SETTINGS)),
    ("conda-build", _rows("upload", PUBLISH)),
    ("poetry", _rows("publish", PUBLISH) + _rows("source_add source_remove config_repositories", SOURCES)),
    ("rpm", _rows("--import", SOURCES)),
    ("ssh-add", _rows("-D -d", KEYS)),
    ("ssh-keygen", _rows("-R", KEYS)),
    ("trust", _rows("anchor extract-compat", KERNEL)),
    ("dmesg", _rows("-C -c --clear --read-clear", KERNEL)),
    ("history", _rows("-c -d -cw -w", ("delete", "it deletes the shell's history"))),
    ("logrotate", _rows("-f --force", KERNEL)),
    ("locale-gen", _rows("--purge", KERNEL)),
    ("localectl", _rows("set-locale set-keymap set-x11-keymap", KERNEL)),
    ("fuser", _rows("-k -km -mk --kill -ki -kiv", ENDS)),
    ("xdg-settings", _rows("set", SETTINGS)),
    ("xdg-mime", _rows("default install uninstall", SETTINGS)),
    ("alternatives", _rows("--set --remove --install --auto", KERNEL)),
    (
        "btrfs",
        _rows("subvolume_delete filesystem_resize device_remove device_delete balance_start check_--repair", VOLUMES),
    ),
    ("wsl", _rows("--unregister --shutdown --terminate --import", VOLUMES)),
    ("robocopy", _rows("/mir /purge /move /mov /MIR /PURGE", ("delete", "it deletes files"))),
    ("attrib", _rows("+h +s +r -r", ("permissions", "it changes who can see or change files"))),
    ("sc", _rows("create delete stop start config sdset", SERVICES)),
    ("virsh", _rows("destroy undefine shutdown vol-delete pool-delete snapshot-delete net-destroy", CLOUD)),
    (("lxc", "incus"), _rows("delete exec launch stop config_device_add file_push profile storage", CLOUD)),
    (("buildah", "crictl", "ctr"), _rows("rm rmi rmp prune --prune delete push remove stopp", IMAGES)),
    (("colima", "minikube", "kind", "k3d", "limactl", "multipass"), _rows("delete purge prune", IMAGES)),
    ("jenkins-cli", _rows("delete-job build groovy delete-node disable-job quiet-down restart safe-restart", CLOUD)),
    ("fastlane", _rows("deliver pilot upload release beta supply match_nuke appstore", PUBLISH)),
    ("eas", _rows("submit update --auto-submit", PUBLISH)),
    ("xcrun", _rows("altool notarytool simctl_erase simctl_delete", PUBLISH)),
    ("electron-builder", _rows("--publish -p", PUBLISH)),
    (("mkdocs", "mike", "ko", "web-ext"), _rows("gh-deploy --push apply resolve sign", PUBLISH)),
    ("setup.py", _rows("upload register install develop", PUBLISH)),
    ("sbt", _rows("publishSigned sonatypeRelease sonatypeBundleRelease +publish", PUBLISH)),
    ("skopeo", _rows("copy sync delete", PUBLISH)),
    ("bazel", _rows("clean_--expunge", ("delete", "it deletes what was built"))),
    (("skaffold", "tilt", "werf", "okteto", "devspace"), _rows("run dev up down dismiss converge", CLOUD)),
    (
        ("railway", "render", "northflank", "koyeb", "cf", "amplify", "dokku"),
        _rows("up down push redeploy run ssh connect apps_destroy domain variables_--set restart env_set", CLOUD),
    ),
    ("railway", _rows("up down redeploy run ssh connect delete", CLOUD) + _rows("variables", SECRETS)),
    (
        "supabase",
        _rows("db_push db_reset link functions_deploy migration_repair projects_delete", DATABASE)
        + _rows("secrets", SECRETS),
    ),
    (
        "vault",
        _rows(
            "write delete kv_put kv_delete kv_destroy kv_metadata secrets_disable secrets_enable auth_disable "
            "auth_enable operator policy_write policy_delete lease_revoke token_revoke",
            CLOUD,
        )
        + _rows("read kv_get token_create unwrap login print_token", SECRETS),
    ),
    ("pass", _rows("rm remove insert edit generate mv init git", KEYS) + _rows("show grep otp", SECRETS)),
    ("gopass", _rows("rm delete insert edit mv", KEYS) + _rows("show cat otp", SECRETS)),
    (
        "op",
        _rows("item_delete item_edit document_delete vault_delete", KEYS)
        + _rows("read item_get document_get inject signin", SECRETS),
    ),
    ("bw", _rows("delete edit create", KEYS) + _rows("get export list unlock", SECRETS)),
    ("secret-tool", _rows("clear store", KEYS) + _rows("lookup search", SECRETS)),
    ("keyring", _rows("set del", KEYS) + _rows("get", SECRETS)),
    ("sops", _rows("-d --decrypt decrypt exec-env exec-file edit", SECRETS)),
    ("ansible-vault", _rows("view decrypt edit rekey", SECRETS)),
    ("age", _rows("-d --decrypt", SECRETS)),
    (("chamber", "doppler", "infisical", "envchain", "teller"), _rows("secrets list read export env", SECRETS)),
    (("wrangler", "netlify", "eb"), _rows("secret env:list env:get env:set printenv env_list", SECRETS)),
    ("hdfs", _rows("-rm -rmr -rmdir -expunge -truncate -put -moveFromLocal", CLOUD)),
    ("hadoop", _rows("-rm -rmr -rmdir -expunge -truncate -put", CLOUD)),
    ("ipfs", _rows("add repo_gc pin_rm name_publish block_rm", OFFERS)),
    ("rclone", _rows("purge delete deletefile sync rmdirs cleanup dedupe bisync", CLOUD) + _rows("serve rcd", OFFERS)),
    ("code", _rows("tunnel serve-web --install-extension --user-data-dir --extensions-dir", OFFERS)),
    ("xclip", _rows("-o -out", RECORDS)),
    ("xsel", _rows("-o -b --output", RECORDS)),
    ("ffmpeg", _rows("x11grab pulse alsa avfoundation v4l2 gdigrab", RECORDS)),
    ("import", _rows("-window", RECORDS)),
    ("strace", _rows("-p --attach", RECORDS)),
    ("ltrace", _rows("-p", RECORDS)),
    ("npm-check-updates", _rows("-u", BRINGS)),
    ("stow", _rows("-D --delete --adopt", ("outside", "it changes links in another folder"))),
    (
        ("fdupes", "jdupes", "rdfind"),
        _rows("-d -rdN -dN --delete -rd -deleteduplicates", ("delete", "it deletes files")),
    ),
    ("unison", _rows("-batch -force -auto", ("delete", "it overwrites files on one side"))),
    ("mmv", _rows("-d -o", ("delete", "it overwrites files"))),
    ("hostnamectl", _rows("set-hostname hostname", KERNEL)),
    ("journalctl", _rows("--vacuum-time --vacuum-size --vacuum-files --rotate --flush", KERNEL)),
    ("ip", _rows("down del delete add flush set", NETWORK)),
    ("ifconfig", _rows("down up", NETWORK)),
    ("nmcli", _rows("off down delete modify", NETWORK)),
    ("networksetup", _rows("-setdnsservers -setwebproxy -setairportpower", NETWORK)),
    ("service", _rows("stop start restart reload", SERVICES)),
    ("tc", _rows("add del change replace", NETWORK)),
    ("apparmor_parser", _rows("-R -r --remove --replace", KERNEL)),
    ("mise", _rows("trust", ("dynamic-command", "it lets the folder's settings run from now on"))),
    (
        "dotnet",
        _rows("nuget_push nuget_delete", PUBLISH)
        + _rows("nuget_add_source nuget_update_source", SOURCES)
        + _rows("ef_database_drop", DATABASE),
    ),
    (
        "conda",
        _rows("remove uninstall env_remove config_--add config_--set config_--prepend config_--append", PACKAGES),
    ),
    ("sysctl", _rows("-w -p --write --load --system", KERNEL)),
    ("timedatectl", _rows("set-time set-timezone set-ntp", KERNEL)),
    ("tmutil", _rows("delete deletelocalsnapshots disable disablelocal", VOLUMES)),
    ("xattr", _rows("-d -dr -rd -c -cr com.apple.quarantine", KERNEL)),
    ("mysqladmin", _rows("drop shutdown flush-privileges flush-hosts kill password reload refresh", DATABASE)),
    ("pip", _rows("config_set config_edit", SETTINGS)),
    ("prisma", _rows("reset db_push", DATABASE)),
    (
        "pulumi",
        _rows(
            "destroy up update refresh cancel stack_rm state_delete state_unprotect import stack_rename config_set",
            CLOUD,
        )
        + _rows("--show-secrets", SECRETS),
    ),
    (
        "redis-cli",
        _rows(
            "FLUSHALL FLUSHDB flushall flushdb SHUTDOWN shutdown", ("database", "it empties a database, or stops it")
        ),
    ),
    (
        "security",
        _rows(
            "delete-keychain delete-generic-password delete-internet-password delete-certificate delete-identity "
            "add-trusted-cert remove-trusted-cert import set-keychain-settings authorizationdb",
            KEYS,
        )
        + _rows("dump-keychain find-generic-password find-internet-password export unlock-keychain", SECRETS),
    ),
    ("twine", _rows("upload", PUBLISH)),
    ("vagrant", _rows("ssh destroy", REMOTE)),
    (
        "wp",
        _rows(
            "db_drop db_reset db_clean db_import site_empty site_delete option_update option_delete search-replace "
            "eval eval-file user_create user_update core_update plugin_install theme_install",
            DATABASE,
        ),
    ),
    ("zfs", _rows("destroy rollback", VOLUMES)),
    ("zpool", _rows("destroy", VOLUMES)),
    ("adb", _rows("shell uninstall root remount push install reboot sideload unlock restore", REMOTE)),
)
"""By program: words, rule and reason."""

BEGINNING_WITH: dict[str, tuple[tuple[str, str, str], ...]] = _by_program(
    (
        ("huggingface-cli", "hf", "modelscope"),
        _rows("upload upload-large-folder repo_create repo_delete repo-files_delete", PUBLISH)
        + _rows("login auth_login auth_token", SECRETS),
    ),
    ("airflow", _rows("dags_trigger dags_backfill tasks_run tasks_clear variables_set connections_add", CLOUD)),
    ("prefect", _rows("deployment_run deploy work-pool_create", CLOUD)),
    ("dagster", _rows("job_launch job_backfill", CLOUD)),
    ("zowe", _rows("jobs_submit zos-jobs_submit files_upload zos-files_upload tso_issue console_issue", CLOUD)),
    (("jfrog", "jf"), _rows("rt_del rt_move rt_upload", PUBLISH)),
    ("pac", _rows("solution_import solution_publish pages_upload", CLOUD)),
    ("cosign", _rows("sign attest attach upload copy clean", PUBLISH)),
    ("code-push", _rows("release release-react promote patch", PUBLISH)),
    ("glab", _rows("ci_trigger ci_retry", CLOUD)),
    ("clearml-data", _rows("add sync upload publish", PUBLISH)),
    (("wandb", "comet", "neptune"), _rows("sync artifact_put upload launch", PUBLISH) + _rows("login", SECRETS)),
    ("kaggle", _rows("datasets_create datasets_version kernels_push competitions_submit models_create", PUBLISH)),
    (("cog", "bentoml", "truss"), _rows("push deploy", PUBLISH)),
    (
        ("modal", "sky", "dstack", "runpodctl", "vastai"),
        _rows("run launch exec stop down up start create apply cancel ssh jobs_launch app_stop", CLOUD),
    ),
    ("ray", _rows("up down submit exec attach job_submit job_stop rsync-up kill-random-node", CLOUD)),
    ("forge", _rows("create verify-contract", PUBLISH)),
    ("cast", _rows("send publish", PUBLISH) + _rows("wallet_private-key wallet_decrypt-keystore", SECRETS)),
    ("solana", _rows("transfer pay withdraw-stake split-stake close-vote-account config_set program_close", PUBLISH)),
    ("near", _rows("send call delete-account create-account tokens", PUBLISH)),
    (
        ("bitcoin-cli", "lncli", "lightning-cli"),
        _rows("sendtoaddress send sendmany sendrawtransaction sendcoins payinvoice sendpayment pay withdraw", PUBLISH)
        + _rows("dumpprivkey dumpwallet", SECRETS),
    ),
    (
        ("west", "arduino-cli", "picotool", "pyocd", "mbed-tools"),
        _rows("flash upload erase burn-bootloader load", FLASHES),
    ),
    ("probe-rs", _rows("download erase run write", FLASHES)),
    ("st-flash", _rows("write erase", FLASHES)),
    ("cargo", _rows("flash embed espflash", FLASHES)),
    ("esxcli", _rows("vm_process_kill system_shutdown system_maintenanceMode", CLOUD)),
    ("brew", _rows("bump-formula-pr bump-cask-pr bump", PUBLISH)),
    (
        "nix",
        _rows("store_gc store_delete", ("delete", "it deletes what was built or installed"))
        + _rows("profile_remove profile_upgrade profile_wipe-history", PACKAGES),
    ),
    ("guix", _rows("pull install remove upgrade gc deploy system_reconfigure home_reconfigure", SYSTEM_PACKAGES)),
)
"""By program: words with which the arguments begin, options aside; rule and reason."""
