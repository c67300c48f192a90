from switchyard_cli.main import main

main()
